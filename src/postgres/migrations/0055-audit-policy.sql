-- Moves the rules of an audit row from constraints to the policy of the table, as 0054-patient-policy does for patients.
-- Compatible from: 0015-appointment-lists
ALTER POLICY tenant_append ON audit_events WITH CHECK (tenant_id = cupo_tenant_id()
  AND (actor IS NULL OR (char_length(actor) >= 1 AND char_length(actor) <= 128))
  AND action IN ('CREATE', 'UPDATE', 'DELETE', 'REMINDER_DUE', 'NO_SHOW_DUE', 'EXPIRED', 'OFFERED'));
ALTER TABLE audit_events
  DROP CONSTRAINT audit_events_actor_check,
  DROP CONSTRAINT audit_events_action_check;

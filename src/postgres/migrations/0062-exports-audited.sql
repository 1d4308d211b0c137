-- An export of a tenant leaves audit rows, with the number of rows of each table.
-- Compatible from: 0015-appointment-lists
ALTER TABLE audit_events ADD COLUMN details jsonb;
COMMENT ON COLUMN audit_events.details IS 'of EXPORTED: the number of rows of each exported table; null for other actions';
ALTER POLICY tenant_append ON audit_events WITH CHECK (tenant_id = cupo_tenant_id()
  AND (actor IS NULL OR (char_length(actor) >= 1 AND char_length(actor) <= 128))
  AND action IN ('CREATE', 'UPDATE', 'DELETE', 'REMINDER_DUE', 'NO_SHOW_DUE', 'EXPIRED', 'OFFERED', 'EXPORT_BEGUN',
    'EXPORTED'));

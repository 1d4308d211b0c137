-- Validates the actions of the audit trail while calls continue.
-- Compatible from: 0015-appointment-lists
ALTER TABLE audit_events VALIDATE CONSTRAINT audit_events_action_check;

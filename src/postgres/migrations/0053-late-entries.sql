-- Visits and steps that are entered after an outage, with their true times.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments ADD COLUMN late_entry boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN appointments.late_entry IS 'whether the appointment, or a step of it, was entered late';
ALTER TABLE appointment_history ADD COLUMN happened_at timestamptz;
COMMENT ON COLUMN appointment_history.happened_at IS 'the true time of a change that was entered late; null for every other change';
ALTER TABLE tenant_settings ADD COLUMN late_entry_days integer;
ALTER TABLE tenant_settings ADD CONSTRAINT tenant_settings_late_entry_check
  CHECK (late_entry_days >= 0 AND late_entry_days <= 7);
COMMENT ON COLUMN tenant_settings.late_entry_days IS 'how many local days back visits can be entered; 0 for none';

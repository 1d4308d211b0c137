-- The last date of a patient's wait by the opportunity definition, as it was when the wait began.
ALTER TABLE healthcare_services
  ADD COLUMN opportunity_definition_id uuid,
  ADD FOREIGN KEY (tenant_id, opportunity_definition_id) REFERENCES opportunity_definitions (tenant_id, id);

ALTER TABLE appointments
  ADD COLUMN requested_on date,
  ADD COLUMN due_on date;
COMMENT ON COLUMN appointments.requested_on IS 'local date from which the wait counts; null for what was booked before it was kept';
COMMENT ON COLUMN appointments.due_on IS 'last local date within the wait that the definition of its type allowed; null for no limit';
CREATE INDEX appointments_overdue_idx ON appointments (tenant_id, due_on, id)
  WHERE local_date > due_on AND status <> 'CANCELLED';

ALTER TABLE waitlist_entries ADD COLUMN due_on date;
COMMENT ON COLUMN waitlist_entries.due_on IS 'last local date within the wait that the definition of its service allowed; null for no limit';
CREATE INDEX waitlist_entries_due_idx ON waitlist_entries (tenant_id, due_on, id)
  WHERE closed_at IS NULL AND due_on IS NOT NULL;

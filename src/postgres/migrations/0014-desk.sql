-- Who stood behind the machine client, where it said so: an opaque id, no name.
ALTER TABLE audit_events ADD COLUMN actor text CHECK (char_length(actor) BETWEEN 1 AND 128);
ALTER TABLE patient_access_records ADD COLUMN actor text CHECK (char_length(actor) BETWEEN 1 AND 128);

-- What changes of an appointment say of place and reason; changes of before have none of it.
ALTER TABLE appointment_history
  ADD COLUMN from_location_id uuid,
  ADD COLUMN to_location_id uuid,
  ADD COLUMN cancellation_reason_id uuid,
  ADD COLUMN no_show_reason_id uuid,
  ADD COLUMN comment text,
  ADD COLUMN actor text CHECK (char_length(actor) BETWEEN 1 AND 128);

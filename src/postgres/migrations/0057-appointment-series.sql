-- The series that appointments were booked in.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments ADD COLUMN series_id uuid;
COMMENT ON COLUMN appointments.series_id IS 'the series of the appointment; null if it is in none';
CREATE INDEX appointments_series_idx ON appointments (tenant_id, series_id, starts_at, id) WHERE series_id IS NOT NULL;

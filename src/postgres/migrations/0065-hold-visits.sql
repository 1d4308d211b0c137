-- A hold reserves its slots until ends_at. Its patient is free from the end of the visit, before a buffer. A release that
-- does not know the column keeps the patient busy until ends_at.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointment_holds ADD COLUMN visit_ends_at timestamptz;
COMMENT ON COLUMN appointment_holds.visit_ends_at IS 'when the visit ends, if a buffer follows it; null if there is none';

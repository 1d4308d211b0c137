-- How a visit takes place, and the link of a video visit.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments
  ADD COLUMN modality text,
  ADD COLUMN join_link text;
COMMENT ON COLUMN appointments.modality IS 'IN_PERSON, PHONE, VIDEO or HOME; null if it is not known';
COMMENT ON COLUMN appointments.join_link IS 'where patient and practitioner meet; only of VIDEO; emptied by an erasure';

-- The wait of an appointment before it was corrected.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointment_history ADD COLUMN wait_before jsonb;
COMMENT ON COLUMN appointment_history.wait_before IS
  'requestedOn, dueOn, desiredOn, firstVisit and payerId before a correction of the wait; null for every other change';

-- The date on which an appointment was booked. For an imported appointment it differs from created_at.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments ADD COLUMN assigned_on date;
COMMENT ON COLUMN appointments.assigned_on IS
  'local date of the booking; null for what was booked before it was kept, which was booked on the date of created_at';

-- Validates the constraints of 0039-waits-of-appointments.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments
  VALIDATE CONSTRAINT appointments_replaces_fkey,
  VALIDATE CONSTRAINT appointments_payer_fkey;

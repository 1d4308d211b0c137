-- The wish of the patient, the appointment that a new one replaces, the payer and whether it is a first visit.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments
  ADD COLUMN desired_on date,
  ADD COLUMN replaces_appointment_id uuid,
  ADD COLUMN first_visit boolean,
  ADD COLUMN payer_id uuid;
COMMENT ON COLUMN appointments.desired_on IS 'local date for which the patient asked; null if it is not known';
COMMENT ON COLUMN appointments.replaces_appointment_id IS 'the cancelled or missed appointment whose wait continues';
COMMENT ON COLUMN appointments.first_visit IS
  'whether it is the first of the patient, service and calendar year; null for what was booked before it was kept';
COMMENT ON COLUMN appointments.payer_id IS 'the payer of the visit; null if it is not known';
-- 0040-waits-validated validates the constraints, while calls continue. Citus accepts only one in each statement.
ALTER TABLE appointments
  ADD CONSTRAINT appointments_replaces_fkey FOREIGN KEY (tenant_id, replaces_appointment_id)
    REFERENCES appointments (tenant_id, id) NOT VALID;
ALTER TABLE appointments
  ADD CONSTRAINT appointments_payer_fkey FOREIGN KEY (tenant_id, payer_id) REFERENCES payers (tenant_id, id) NOT VALID;

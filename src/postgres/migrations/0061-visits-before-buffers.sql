-- An appointment occupies its slots until ends_at. Its visit, which the patient sees, can end earlier, before a buffer. A
-- release that does not know the column can leave an end of another time: it counts only within the appointment.
-- The statements are those of 0032-patient-exclusion, with the end of the visit.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments ADD COLUMN visit_ends_at timestamptz;
COMMENT ON COLUMN appointments.visit_ends_at IS
  'when the visit ends, if the type had a buffer when it was booked; null if it had none';
ALTER TABLE appointments DROP CONSTRAINT appointments_patient_excl;
ALTER TABLE appointments
  ADD CONSTRAINT appointments_patient_excl EXCLUDE USING gist
    (tenant_id WITH =, patient_id WITH =, tstzrange(starts_at,
      CASE WHEN visit_ends_at > starts_at AND visit_ends_at < ends_at THEN visit_ends_at ELSE ends_at END) WITH &&)
    WHERE (status || '' IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED'));

-- Like 0032-patient-exclusion.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments DROP CONSTRAINT appointments_practitioner_excl;
ALTER TABLE appointments
  ADD CONSTRAINT appointments_practitioner_excl EXCLUDE USING gist
    (tenant_id WITH =, practitioner_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (status || '' IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED') AND NOT overbooked);

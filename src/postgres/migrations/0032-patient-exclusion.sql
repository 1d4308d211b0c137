-- The condition of the exclusion constraint is written as in no query, so that the planner uses its index for no query.
-- PostgreSQL (seen in 15 and 18) can mark live entries of a GiST index as dead, if a statement scans the index
-- repeatedly while its root page is split. Readers and the constraint then miss those appointments. The new index
-- contains the lost entries again. There are two statements, because Citus accepts ADD CONSTRAINT only as a statement
-- of its own.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments DROP CONSTRAINT appointments_patient_excl;
ALTER TABLE appointments
  ADD CONSTRAINT appointments_patient_excl EXCLUDE USING gist
    (tenant_id WITH =, patient_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (status || '' IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED'));

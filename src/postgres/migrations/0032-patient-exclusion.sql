-- The exclusion constraint is for those who write alone: its condition is written as no query writes it, so that none is
-- planned by its index. PostgreSQL (seen in 15 and 18) takes living entries of a GiST index for dead where one statement
-- looks through it again and again while its first page is split: neither readers nor the constraint see those appointments
-- from then on. What an index has lost is in it again, since it is built anew.
-- Two statements, because Citus adds a constraint by a statement of its own alone.
-- Compatible from: 0015-appointment-lists
ALTER TABLE appointments DROP CONSTRAINT appointments_patient_excl;
ALTER TABLE appointments
  ADD CONSTRAINT appointments_patient_excl EXCLUDE USING gist
    (tenant_id WITH =, patient_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (status || '' IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED'));

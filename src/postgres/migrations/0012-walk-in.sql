-- Appointments that take several consecutive slots, and overbooked appointments, which have a slot of their own without
-- a rule.

DROP INDEX slots_appointment_idx;
CREATE INDEX slots_appointment_idx ON slots (tenant_id, appointment_id) WHERE appointment_id IS NOT NULL;

ALTER TABLE slots
  ALTER COLUMN rule_id DROP NOT NULL,
  ADD CHECK (rule_id IS NOT NULL OR appointment_id IS NOT NULL);
COMMENT ON COLUMN slots.rule_id IS
  'with the times it says what the slot is; null for one that was made for an overbooked appointment and goes with it';
DROP INDEX slots_start_key;
-- A retained slot, or the slot of an overbooked appointment, can have the same start as a slot of the rules.
CREATE UNIQUE INDEX slots_start_key ON slots (tenant_id, program_id, practitioner_id, starts_at)
  WHERE NOT retained AND rule_id IS NOT NULL;

ALTER TABLE appointments
  ALTER COLUMN rule_id DROP NOT NULL,
  ADD COLUMN overbooked boolean NOT NULL DEFAULT false,
  ADD COLUMN overbooking_reason text,
  ADD CHECK (overbooked = (rule_id IS NULL)),
  ADD CHECK (overbooking_reason IS NOT NULL OR NOT overbooked),
  DROP CONSTRAINT appointments_practitioner_excl,
  ADD CONSTRAINT appointments_practitioner_excl EXCLUDE USING gist
    (tenant_id WITH =, practitioner_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED') AND NOT overbooked);
COMMENT ON COLUMN appointments.overbooked IS
  'beyond the schedule: beside other appointments of the practitioner, and not counted against the capacity of a day';
COMMENT ON COLUMN appointments.overbooking_reason IS 'stays when the appointment is moved into the schedule';

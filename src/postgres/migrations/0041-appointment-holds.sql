-- Holds of appointment options: a caller holds a time of a practitioner and of a patient for some minutes, then books it.
-- A hold is live while ended_at is null and expires_at is ahead on the clock of the process that asks. Slots have no
-- column for it. An older release does not see holds: while one serves, it can book a held time.
--
-- There are no foreign keys: the transaction that inserts a row has locked what it refers to, and rows are purged a day
-- after they expired.
-- Compatible from: 0015-appointment-lists
CREATE TABLE appointment_holds (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  appointment_id uuid,
  service_id uuid NOT NULL,
  program_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  practitioner_id uuid NOT NULL,
  location_id uuid NOT NULL,
  slot_id uuid NOT NULL,
  local_date date NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  uses_unit boolean NOT NULL,
  principal text NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  booked_appointment_id uuid,
  created_at timestamptz NOT NULL,
  CONSTRAINT appointment_holds_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT appointment_holds_times_check CHECK (starts_at < ends_at),
  CONSTRAINT appointment_holds_booked_check CHECK (booked_appointment_id IS NULL OR ended_at IS NOT NULL),
  -- The backstop of the lock of the practitioner. Its condition is written as in no query, like that of
  -- 0032-patient-exclusion. A transaction that takes a time ends the expired holds in it first.
  CONSTRAINT appointment_holds_practitioner_excl EXCLUDE USING gist
    (tenant_id WITH =, practitioner_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (num_nulls(ended_at) = 1)
);
COMMENT ON COLUMN appointment_holds.appointment_id IS 'the appointment that the hold reschedules; null for a new one';
COMMENT ON COLUMN appointment_holds.slot_id IS 'the first slot';
COMMENT ON COLUMN appointment_holds.uses_unit IS
  'whether the hold uses capacity of its day; false if its appointment already does';
COMMENT ON COLUMN appointment_holds.ended_at IS
  'when it was released or booked, or its time was taken after expires_at; null meanwhile, even after expires_at';
CREATE INDEX appointment_holds_practitioner_idx ON appointment_holds (tenant_id, practitioner_id, starts_at)
  WHERE ended_at IS NULL;
CREATE INDEX appointment_holds_patient_idx ON appointment_holds (tenant_id, patient_id, starts_at);
CREATE INDEX appointment_holds_expiry_idx ON appointment_holds (expires_at);
SELECT cupo_protect('appointment_holds');
-- A purge works on all tenants. It can read and delete only holds that expired long ago.
CREATE POLICY purge_read ON appointment_holds FOR SELECT
  USING (current_setting('cupo.purge_retention', true) <> '' AND expires_at < cupo_purge_limit('1 hour'));
CREATE POLICY purge_delete ON appointment_holds FOR DELETE
  USING (current_setting('cupo.purge_retention', true) <> '' AND expires_at < cupo_purge_limit('1 hour'));

-- The live holds of a principal, which are limited. `held` has the end of each, in order.
CREATE TABLE hold_holders (
  tenant_id uuid NOT NULL,
  principal text NOT NULL,
  held timestamptz[] NOT NULL,
  CONSTRAINT hold_holders_pkey PRIMARY KEY (tenant_id, principal)
) WITH (fillfactor = 50);
SELECT cupo_protect('hold_holders');

-- The holds that use capacity of the day: the end of each, in order. Those that are past use none. They are in the row
-- of the counter, because PostgreSQL checks only that row again after it waited for its lock.
ALTER TABLE day_counters ADD COLUMN held timestamptz[] NOT NULL DEFAULT '{}';

-- The materialized schedule and the appointments in it.

-- Lets an exclusion constraint combine equality of uuid columns with the overlap of ranges. It is a trusted extension,
-- so the owner may create it. IF NOT EXISTS is not used: Citus forwards such a statement to its workers even if another
-- role has created the extension there, and the statement fails.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'btree_gist') THEN
    CREATE EXTENSION btree_gist;
  END IF;
END $$;

ALTER TABLE programs
  ADD COLUMN generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
  ADD COLUMN materialized_through date,
  ADD COLUMN materialized_at timestamptz;
COMMENT ON COLUMN programs.generation IS 'grows with each change of rules, practitioners or holidays; new slots carry it';
COMMENT ON COLUMN programs.materialized_through IS 'up to this local date every slot of the generation is there';
-- Background jobs find the schedules of all tenants by this policy. They then work on each one as its tenant.
CREATE POLICY jobs_read ON programs FOR SELECT
  USING (current_setting('cupo.jobs', true) = 'on' AND materialized_through IS NOT NULL);

-- The calendar of a tenant. A transaction that makes slots locks the row FOR SHARE; one that changes holidays locks it
-- exclusively. So a calendar never changes while a schedule is made from it, not even the first schedule of a new
-- program.
CREATE TABLE calendars (
  tenant_id uuid NOT NULL PRIMARY KEY
);
SELECT cupo_protect('calendars');

-- A free slot that no longer fits the rules is deleted. A booked one is retained for its appointment, so that staff can
-- decide.
CREATE TABLE slots (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  program_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  practitioner_id uuid NOT NULL,
  local_date date NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  generation integer NOT NULL CHECK (generation >= 1),
  retained boolean NOT NULL DEFAULT false,
  appointment_id uuid,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, program_id) REFERENCES programs (tenant_id, id),
  FOREIGN KEY (tenant_id, rule_id) REFERENCES program_rules (tenant_id, id),
  FOREIGN KEY (tenant_id, practitioner_id) REFERENCES practitioners (tenant_id, id),
  FOREIGN KEY (tenant_id, appointment_id) REFERENCES appointments (tenant_id, id),
  CHECK (starts_at < ends_at),
  CHECK (appointment_id IS NOT NULL OR NOT retained)
);
COMMENT ON COLUMN slots.rule_id IS 'with the times it says what the slot is; none of these columns ever changes';
COMMENT ON COLUMN slots.appointment_id IS 'the live appointment that occupies the slot';
-- A retained slot can have the same start as a slot of the rules. The practitioner can serve only one of them.
CREATE UNIQUE INDEX slots_start_key ON slots (tenant_id, program_id, practitioner_id, starts_at) WHERE NOT retained;
CREATE UNIQUE INDEX slots_appointment_idx ON slots (tenant_id, appointment_id) WHERE appointment_id IS NOT NULL;
CREATE INDEX slots_free_idx ON slots (tenant_id, program_id, starts_at, id) WHERE appointment_id IS NULL;
CREATE INDEX slots_retained_idx ON slots (tenant_id, program_id, starts_at, appointment_id) WHERE retained;
SELECT cupo_protect('slots');

-- Number of live appointments of a rule on a date, to compare with its daily capacity.
CREATE TABLE day_counters (
  tenant_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  local_date date NOT NULL,
  booked integer NOT NULL CHECK (booked >= 0),
  PRIMARY KEY (tenant_id, rule_id, local_date),
  FOREIGN KEY (tenant_id, rule_id) REFERENCES program_rules (tenant_id, id)
);
CREATE INDEX day_counters_date_idx ON day_counters (tenant_id, local_date);
SELECT cupo_protect('day_counters');

ALTER TABLE appointments
  ADD COLUMN rule_id uuid NOT NULL,
  ADD COLUMN local_date date NOT NULL,
  ADD COLUMN request_source_id uuid NOT NULL,
  ADD COLUMN appointment_type_id uuid NOT NULL,
  ADD COLUMN consultation_type_id uuid,
  ADD COLUMN cancellation_reason_id uuid,
  ADD COLUMN no_show_reason_id uuid,
  ADD COLUMN comment text,
  ADD FOREIGN KEY (tenant_id, rule_id) REFERENCES program_rules (tenant_id, id),
  ADD FOREIGN KEY (tenant_id, request_source_id) REFERENCES request_sources (tenant_id, id),
  ADD FOREIGN KEY (tenant_id, appointment_type_id) REFERENCES appointment_types (tenant_id, id),
  ADD FOREIGN KEY (tenant_id, consultation_type_id) REFERENCES consultation_types (tenant_id, id),
  -- Backstops: row locks in a fixed order already prevent these overlaps.
  ADD CONSTRAINT appointments_practitioner_excl EXCLUDE USING gist
    (tenant_id WITH =, practitioner_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED')),
  ADD CONSTRAINT appointments_patient_excl EXCLUDE USING gist
    (tenant_id WITH =, patient_id WITH =, tstzrange(starts_at, ends_at) WITH &&)
    WHERE (status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED'));
CREATE INDEX appointments_patient_idx ON appointments (tenant_id, patient_id, starts_at, id);
CREATE INDEX appointments_practitioner_idx ON appointments (tenant_id, practitioner_id, starts_at, id);
CREATE INDEX appointments_program_idx ON appointments (tenant_id, program_id, starts_at, id);
CREATE INDEX appointments_status_idx ON appointments (tenant_id, status, starts_at, id);
CREATE INDEX appointments_practitioner_status_idx ON appointments (tenant_id, practitioner_id, status, starts_at, id);
CREATE INDEX appointments_program_status_idx ON appointments (tenant_id, program_id, status, starts_at, id);
CREATE INDEX appointments_start_idx ON appointments (tenant_id, starts_at, id);

-- The history of appointments. Append-only.
CREATE TABLE appointment_history (
  tenant_id uuid NOT NULL,
  appointment_id uuid NOT NULL,
  version integer NOT NULL,
  from_status text,
  to_status text NOT NULL,
  from_starts_at timestamptz,
  from_ends_at timestamptz,
  from_program_id uuid,
  from_practitioner_id uuid,
  to_starts_at timestamptz NOT NULL,
  to_ends_at timestamptz NOT NULL,
  to_program_id uuid NOT NULL,
  to_practitioner_id uuid NOT NULL,
  principal text NOT NULL,
  correlation_id uuid NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, appointment_id, version),
  FOREIGN KEY (tenant_id, appointment_id) REFERENCES appointments (tenant_id, id)
);
ALTER TABLE appointment_history ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON appointment_history FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON appointment_history FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());

-- Used option tokens. Each token works once.
CREATE TABLE consumed_option_tokens (
  tenant_id uuid NOT NULL,
  jti uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, jti)
);
CREATE INDEX consumed_option_tokens_expiry_idx ON consumed_option_tokens (expires_at);
SELECT cupo_protect('consumed_option_tokens');
-- A purge works on all tenants. It can read and delete only tokens that have expired.
CREATE POLICY purge_read ON consumed_option_tokens FOR SELECT
  USING (current_setting('cupo.purge', true) = 'on' AND expires_at < now() - interval '1 day');
CREATE POLICY purge_delete ON consumed_option_tokens FOR DELETE
  USING (current_setting('cupo.purge', true) = 'on' AND expires_at < now() - interval '1 day');

-- The keys that seal option tokens. All processes share them. They belong to no tenant, and no operation reads them.
CREATE TABLE option_token_keys (
  kid text PRIMARY KEY,
  secret bytea NOT NULL CHECK (octet_length(secret) = 32),
  created_at timestamptz NOT NULL
);

-- Eligibility decisions with their inputs. They never change.
CREATE TABLE eligibility_decisions (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  payer_id uuid NOT NULL,
  contract_id uuid NOT NULL,
  service_id uuid NOT NULL,
  service_date date NOT NULL,
  eligible boolean NOT NULL,
  reasons jsonb NOT NULL,
  evaluated_at timestamptz NOT NULL,
  valid_until timestamptz NOT NULL CHECK (valid_until >= evaluated_at),
  principal text NOT NULL,
  correlation_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id)
);
CREATE INDEX eligibility_decisions_patient_idx ON eligibility_decisions (tenant_id, patient_id, id);
ALTER TABLE eligibility_decisions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON eligibility_decisions FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON eligibility_decisions FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());

-- closed_at is separate from the status, because the published status values have none for a closed entry.
CREATE TABLE waitlist_entries (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  service_id uuid NOT NULL,
  date_from date NOT NULL,
  date_to date NOT NULL,
  preferred_periods text[] NOT NULL CHECK (cardinality(preferred_periods) BETWEEN 1 AND 4),
  location_id uuid,
  practitioner_id uuid,
  status text NOT NULL CHECK (status IN ('ACTIVE', 'RECEIVED', 'OPEN')),
  created_at timestamptz NOT NULL,
  closed_at timestamptz,
  closed_by text,
  close_reason text,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id),
  FOREIGN KEY (tenant_id, service_id) REFERENCES healthcare_services (tenant_id, id),
  FOREIGN KEY (tenant_id, location_id) REFERENCES locations (tenant_id, id),
  FOREIGN KEY (tenant_id, practitioner_id) REFERENCES practitioners (tenant_id, id),
  CHECK (date_from <= date_to),
  CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (close_reason IS NULL))
);
CREATE INDEX waitlist_entries_patient_idx ON waitlist_entries (tenant_id, patient_id, id);
CREATE INDEX waitlist_entries_service_idx ON waitlist_entries (tenant_id, service_id, id);
CREATE INDEX waitlist_entries_service_open_idx ON waitlist_entries (tenant_id, service_id, id) WHERE closed_at IS NULL;
CREATE INDEX waitlist_entries_status_idx ON waitlist_entries (tenant_id, status, id);
CREATE INDEX waitlist_entries_open_idx ON waitlist_entries (tenant_id, id) WHERE closed_at IS NULL;
CREATE INDEX waitlist_entries_closed_idx ON waitlist_entries (tenant_id, id) WHERE closed_at IS NOT NULL;
SELECT cupo_protect('waitlist_entries');

CREATE TABLE appointments (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  service_id uuid NOT NULL,
  program_id uuid NOT NULL,
  practitioner_id uuid NOT NULL,
  location_id uuid NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  status text NOT NULL
    CHECK (status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED', 'CANCELLED', 'NO_SHOW')),
  version integer NOT NULL CHECK (version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id),
  FOREIGN KEY (tenant_id, service_id) REFERENCES healthcare_services (tenant_id, id),
  FOREIGN KEY (tenant_id, program_id) REFERENCES programs (tenant_id, id),
  FOREIGN KEY (tenant_id, practitioner_id) REFERENCES practitioners (tenant_id, id),
  FOREIGN KEY (tenant_id, location_id) REFERENCES locations (tenant_id, id),
  CHECK (starts_at < ends_at)
);
SELECT cupo_protect('appointments');

CREATE TABLE user_attention_cases (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  category text NOT NULL
    CHECK (category IN ('INFORMATION_REQUEST', 'COMPLAINT', 'CLAIM', 'SUGGESTION', 'COMPLIMENT')),
  external_reference text NOT NULL,
  description text NOT NULL,
  patient_id uuid,
  appointment_id uuid,
  status text NOT NULL CHECK (status IN ('ACTIVE', 'RECEIVED', 'OPEN')),
  created_at timestamptz NOT NULL,
  closed_at timestamptz,
  closed_by text,
  close_reason text,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id),
  FOREIGN KEY (tenant_id, appointment_id) REFERENCES appointments (tenant_id, id),
  CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (close_reason IS NULL))
);
CREATE INDEX user_attention_cases_patient_idx ON user_attention_cases (tenant_id, patient_id, id);
CREATE INDEX user_attention_cases_status_idx ON user_attention_cases (tenant_id, status, id);
CREATE INDEX user_attention_cases_status_open_idx ON user_attention_cases (tenant_id, status, id)
  WHERE closed_at IS NULL;
CREATE INDEX user_attention_cases_open_idx ON user_attention_cases (tenant_id, id) WHERE closed_at IS NULL;
CREATE INDEX user_attention_cases_closed_idx ON user_attention_cases (tenant_id, id) WHERE closed_at IS NOT NULL;
SELECT cupo_protect('user_attention_cases');

-- Who read the data of which patient, as health data law requires. Append-only.
CREATE TABLE patient_access_records (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  operation text NOT NULL,
  principal text NOT NULL,
  correlation_id uuid NOT NULL,
  accessed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX patient_access_records_patient_idx ON patient_access_records (tenant_id, patient_id, accessed_at, id);
ALTER TABLE patient_access_records ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON patient_access_records FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON patient_access_records FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());

-- Consents are listed by the time of recording, latest first.
DROP INDEX patient_consents_patient_idx;
CREATE INDEX patient_consents_patient_idx ON patient_consents (tenant_id, patient_id, recorded_at, id);

-- For lists of patients by status, ordered by id.
CREATE INDEX patients_status_idx ON patients (tenant_id, status, id);

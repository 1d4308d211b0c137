-- Two documents are the same if their document_type_key and document_number_key are equal. The keys are normalized
-- forms.
CREATE TABLE patients (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  document_type text NOT NULL,
  document_number text NOT NULL,
  document_type_key text NOT NULL,
  document_number_key text NOT NULL,
  full_name text NOT NULL,
  phone text NOT NULL,
  email text,
  status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'INACTIVE', 'DECEASED')),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX patients_active_document_key
  ON patients (tenant_id, document_type_key, document_number_key) WHERE status = 'ACTIVE';
ALTER TABLE patients ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON patients USING (tenant_id = cupo_tenant_id());

-- Evidence of consent. Append-only: no policy allows an update or a delete.
CREATE TABLE patient_consents (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  granted_at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  principal text NOT NULL,
  correlation_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id)
);
CREATE INDEX patient_consents_patient_idx ON patient_consents (tenant_id, patient_id);
ALTER TABLE patient_consents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON patient_consents FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON patient_consents FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());

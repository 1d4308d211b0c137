-- A duplicate that was merged into another patient stays on record. It cannot be booked for any more.
ALTER TABLE patients
  ADD COLUMN merged_into uuid,
  ADD FOREIGN KEY (tenant_id, merged_into) REFERENCES patients (tenant_id, id),
  ADD CHECK (merged_into IS NULL OR (status = 'INACTIVE' AND merged_into <> id));
COMMENT ON COLUMN patients.merged_into IS 'the patient whom this one was merged into, who may have been merged in turn';

-- The words by which a search finds a patient: those of the name, the reversed telephone number after #, and the
-- document number after $. They are compared byte by byte with leakproof operators, so that the index also works under
-- row-level security. There is no foreign key to the patient, because patients are never deleted and the checks of five
-- rows would cost a registration more than the rows themselves.
ALTER TABLE patients ADD COLUMN search_words text[] COLLATE "C" NOT NULL DEFAULT '{}';
COMMENT ON COLUMN patients.search_words IS 'every word of the patient in patient_search_words';
CREATE TABLE patient_search_words (
  tenant_id uuid NOT NULL,
  word text COLLATE "C" NOT NULL,
  patient_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, word, patient_id)
);
SELECT cupo_protect('patient_search_words');

-- Few patients are merged. Checks of their rules use this index.
CREATE INDEX patients_merged_idx ON patients (tenant_id, id) WHERE merged_into IS NOT NULL;

-- Changes of patients that need a reason. Append-only.
CREATE TABLE patient_changes (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  patient_id uuid NOT NULL,
  version integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('DOCUMENT_CORRECTED', 'MERGED_INTO', 'ABSORBED')),
  other_patient_id uuid,
  former_document_type text,
  former_document_number text,
  reason text NOT NULL,
  changed_at timestamptz NOT NULL,
  principal text NOT NULL,
  actor text CHECK (char_length(actor) BETWEEN 1 AND 128),
  correlation_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, patient_id) REFERENCES patients (tenant_id, id),
  FOREIGN KEY (tenant_id, other_patient_id) REFERENCES patients (tenant_id, id),
  CHECK ((kind = 'DOCUMENT_CORRECTED') = (other_patient_id IS NULL)),
  CHECK ((kind = 'DOCUMENT_CORRECTED') = (former_document_type IS NOT NULL)),
  CHECK ((kind = 'DOCUMENT_CORRECTED') = (former_document_number IS NOT NULL))
);
CREATE INDEX patient_changes_patient_idx ON patient_changes (tenant_id, patient_id, changed_at, id);
ALTER TABLE patient_changes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON patient_changes FOR SELECT USING (tenant_id = cupo_tenant_id());
CREATE POLICY tenant_append ON patient_changes FOR INSERT WITH CHECK (tenant_id = cupo_tenant_id());

ALTER TABLE appointment_history ADD COLUMN merged_from_patient_id uuid;
COMMENT ON COLUMN appointment_history.merged_from_patient_id IS 'whose appointment it was before a merge';

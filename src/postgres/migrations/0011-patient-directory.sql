-- A duplicate of another patient stays on record and belongs to that one from then on; it is booked for no more.
ALTER TABLE patients
  ADD COLUMN merged_into uuid,
  ADD FOREIGN KEY (tenant_id, merged_into) REFERENCES patients (tenant_id, id),
  ADD CHECK (merged_into IS NULL OR (status = 'INACTIVE' AND merged_into <> id));
COMMENT ON COLUMN patients.merged_into IS 'the patient whom this one was merged into, who may have been merged in turn';

-- The words that a patient is found by: of the name, of the telephone reversed behind #, of the document behind $. Compared
-- byte by byte, by operators that are leakproof, so that the index serves them under row-level security. A row refers to
-- its patient, whom nobody deletes, without a foreign key: five checks would cost a registration more than the five rows.
ALTER TABLE patients ADD COLUMN search_words text[] COLLATE "C" NOT NULL DEFAULT '{}';
COMMENT ON COLUMN patients.search_words IS 'every word of the patient in patient_search_words';
CREATE TABLE patient_search_words (
  tenant_id uuid NOT NULL,
  word text COLLATE "C" NOT NULL,
  patient_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, word, patient_id)
);
SELECT cupo_protect('patient_search_words');

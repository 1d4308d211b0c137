-- A duplicate of another patient stays on record and belongs to that one from then on; it is booked for no more.
ALTER TABLE patients
  ADD COLUMN merged_into uuid,
  ADD FOREIGN KEY (tenant_id, merged_into) REFERENCES patients (tenant_id, id),
  ADD CHECK (merged_into IS NULL OR (status = 'INACTIVE' AND merged_into <> id));
COMMENT ON COLUMN patients.merged_into IS 'the patient whom this one was merged into, who may have been merged in turn';

-- Lets the service empty, but not replace, the texts of an append-only table. It has UPDATE on these columns only.
-- Compatible from: 0015-appointment-lists
ALTER TABLE patient_changes
  DROP CONSTRAINT patient_changes_kind_check,
  DROP CONSTRAINT patient_changes_check,
  DROP CONSTRAINT patient_changes_check1,
  DROP CONSTRAINT patient_changes_check2,
  ADD CONSTRAINT patient_changes_kind_check
    CHECK (kind IN ('DOCUMENT_CORRECTED', 'MERGED_INTO', 'ABSORBED', 'ERASED')),
  ADD CONSTRAINT patient_changes_merge_check CHECK ((kind IN ('MERGED_INTO', 'ABSORBED')) = (other_patient_id IS NOT NULL)),
  ADD CONSTRAINT patient_changes_document_check CHECK (
    (former_document_type IS NULL) = (former_document_number IS NULL)
    AND (former_document_type IS NOT NULL) = (kind = 'DOCUMENT_CORRECTED' AND reason <> ''));
CREATE POLICY tenant_empty ON patient_changes FOR UPDATE USING (tenant_id = cupo_tenant_id())
  WITH CHECK (tenant_id = cupo_tenant_id() AND reason = '' AND former_document_type IS NULL AND former_document_number IS NULL);

-- Erasing a person on request: what identifies them is emptied, what happened stays without it. Nothing says anything of an
-- erased patient but the id; the check is the backstop, also against a release that does not know of it.
-- Compatible from: 0015-appointment-lists
ALTER TABLE patients
  ADD COLUMN erased_at timestamptz,
  ADD CONSTRAINT patients_erased_check CHECK (erased_at IS NULL OR (
    status = 'INACTIVE' AND email IS NULL AND cardinality(search_words) = 0
    AND document_type || document_number || document_type_key || document_number_key || full_name || phone = ''));
COMMENT ON COLUMN patients.erased_at IS 'since when nothing is known of the person; the row is what their appointments refer to';
CREATE INDEX patients_erased_idx ON patients (tenant_id, id) WHERE erased_at IS NOT NULL;
CREATE INDEX patients_merged_into_idx ON patients (tenant_id, merged_into) WHERE merged_into IS NOT NULL;

-- Texts of rows that are otherwise append-only can be emptied and not be replaced: the service has UPDATE on these columns alone.
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
CREATE POLICY tenant_empty ON appointment_history FOR UPDATE USING (tenant_id = cupo_tenant_id())
  WITH CHECK (tenant_id = cupo_tenant_id() AND comment IS NULL AND coalesce(correction_reason, '') = '');

CREATE INDEX user_attention_cases_appointment_idx ON user_attention_cases (tenant_id, appointment_id)
  WHERE appointment_id IS NOT NULL;

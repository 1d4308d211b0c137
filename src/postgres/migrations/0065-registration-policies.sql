-- Removes two rules that PostgreSQL checks at every registration, as 0054-patient-policy does.
-- A consent and its patient are inserted by one transaction, and the service may not delete a patient. VerifyInvariants finds a
-- consent without a patient.
-- The rules of an idempotency key move to the policy of the table.
-- Compatible from: 0015-appointment-lists
ALTER TABLE patient_consents DROP CONSTRAINT patient_consents_tenant_id_patient_id_fkey;
ALTER POLICY tenant ON idempotency_keys WITH CHECK (tenant_id = cupo_tenant_id()
  AND octet_length(key_hash) = 32 AND octet_length(fingerprint) = 32);
ALTER TABLE idempotency_keys
  DROP CONSTRAINT idempotency_keys_key_hash_check,
  DROP CONSTRAINT idempotency_keys_fingerprint_check;

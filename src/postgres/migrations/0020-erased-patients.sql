-- Erasure of a person: identifying data is emptied, the records stay. Nothing but the id identifies an erased patient.
-- The check is a backstop, also against an older release. It is not validated, because nobody is erased yet and a scan
-- of all rows would block calls. This migration and the following ones lock one table each, so that they cannot
-- deadlock with the calls of a serving release.
-- Compatible from: 0015-appointment-lists
ALTER TABLE patients
  ADD COLUMN erased_at timestamptz,
  ADD CONSTRAINT patients_erased_check CHECK (erased_at IS NULL OR (
    status = 'INACTIVE' AND email IS NULL AND cardinality(search_words) = 0
    AND document_type || document_number || document_type_key || document_number_key || full_name || phone = '')) NOT VALID;
COMMENT ON COLUMN patients.erased_at IS 'when the data of the person was erased; the row stays for the appointments that refer to it';

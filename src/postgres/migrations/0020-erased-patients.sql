-- Erasing a person on request: what identifies them is emptied, what happened stays without it. Nothing says anything of an
-- erased patient but the id; the check is the backstop, also against a release that does not know of it. It is not validated:
-- nobody is erased yet, and a look at every row would hold up all calls. This migration and those behind it lock one table each,
-- so that none of them and the calls of a service at work wait for each other.
-- Compatible from: 0015-appointment-lists
ALTER TABLE patients
  ADD COLUMN erased_at timestamptz,
  ADD CONSTRAINT patients_erased_check CHECK (erased_at IS NULL OR (
    status = 'INACTIVE' AND email IS NULL AND cardinality(search_words) = 0
    AND document_type || document_number || document_type_key || document_number_key || full_name || phone = '')) NOT VALID;
COMMENT ON COLUMN patients.erased_at IS 'since when nothing is known of the person; the row is what their appointments refer to';

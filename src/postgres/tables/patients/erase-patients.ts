import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import { type PatientRecord, writeErasedPatient } from "./patients.js";

/**
 * Erases patients that the transaction has locked: empties their data, deletes their search words and sets their status
 * to INACTIVE. Each patient gets a new version.
 */
export function erasePatientRows(transaction: Transaction, patients: readonly PatientRecord[], at: Date): void {
  const { tenantId } = transaction;
  const ids = patients.map(({ id }) => id);
  const words = sql.raw(
    `DELETE FROM patient_search_words WHERE tenant_id = ? AND patient_id = ANY(?::uuid[]) AND word = ANY(ARRAY(
       SELECT unnest(search_words) FROM patients WHERE tenant_id = ? AND id = ANY(?::uuid[])))`,
    [tenantId, ids, tenantId, ids],
  );
  transaction.send(words);
  for (const patient of patients) writeErasedPatient(transaction, erased(patient, at), at);
}

/**
 * Returns a patient as an erasure leaves it. Required texts become empty, optional texts become undefined, and the
 * status becomes INACTIVE. The function lists every attribute, so that the compiler reports an attribute that is added
 * later.
 */
function erased(patient: PatientRecord, at: Date): PatientRecord {
  return {
    id: patient.id,
    documentType: "",
    documentNumber: "",
    fullName: "",
    phone: "",
    email: undefined,
    status: "INACTIVE",
    version: patient.version + 1,
    mergedInto: patient.mergedInto,
    createdAt: patient.createdAt,
    updatedAt: at,
  };
}

import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { findPatient, knownPatients, type PatientRecord, patientColumns } from "./patients.js";

/** All records of one person: the patient, and everybody who was merged into them, directly or not. */
const MERGED = `WITH RECURSIVE person (id) AS (SELECT ?::uuid
    UNION SELECT p.id FROM patients p JOIN person ON p.merged_into = person.id WHERE p.tenant_id = ?)
  SELECT id FROM person`;

/** Whoever a patient was merged into in the end; the patient where nobody, undefined where the tenant has no such patient. */
export async function findSurvivor(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  const patient = await findPatient(transaction, id);
  return patient?.mergedInto === undefined ? patient : findSurvivor(transaction, patient.mergedInto);
}

/** The patient and those who were merged into them, in the order of their ids; none where the tenant has no such patient. */
export async function findPerson(transaction: Transaction, patientId: string): Promise<PatientRecord[]> {
  return readRecords(transaction, person(transaction, patientId));
}

/**
 * Like {@link findPerson}, locked in the order of their ids until the transaction ends, also against whoever holds one of them.
 * A merge into the patient that commits while the lock is waited for is not among them: it shows in the patient's version.
 */
export async function lockPerson(transaction: Transaction, patientId: string): Promise<PatientRecord[]> {
  return readRecords(transaction, person(transaction, patientId).forUpdate());
}

/** Empties the rows of patients whom the transaction has locked, each with a new version, and what they are found by. */
export function erasePatientRows(transaction: Transaction, patientIds: readonly string[], at: Date): void {
  const { tenantId } = transaction;
  const ids = patientIds as string[];
  const words = sql.raw(
    `DELETE FROM patient_search_words WHERE tenant_id = ? AND patient_id = ANY(?::uuid[]) AND word = ANY(ARRAY(
       SELECT unnest(search_words) FROM patients WHERE tenant_id = ? AND id = ANY(?::uuid[])))`,
    [tenantId, ids, tenantId, ids],
  );
  transaction.send(words);
  const emptied = Object.fromEntries(EMPTIED.map((column) => [column, ""]));
  const change = { ...emptied, email: null, search_words: sql.raw("'{}'"), status: "INACTIVE" };
  const erased = { ...change, erased_at: at, updated_at: at, version: sql.raw("version + 1") };
  const query = sql("patients").where({ tenant_id: tenantId }).whereRaw("id = ANY(?::uuid[])", [ids]);
  transaction.send(query.update(erased));
}

const EMPTIED = [
  "document_type",
  "document_number",
  "document_type_key",
  "document_number_key",
  "full_name",
  "phone",
] as const;

function person({ tenantId }: Transaction, patientId: string) {
  return knownPatients({ tenant_id: tenantId })
    .whereRaw(`id IN (${MERGED})`, [patientId, tenantId])
    .select(patientColumns)
    .orderBy("id");
}

import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { findPatient, knownPatients, type PatientRecord, patientColumns } from "./patients.js";

/**
 * SQL for the ids of all records of a person: the patient and all patients merged into it, directly or not. The
 * placeholders are the patient and the tenant.
 */
const MERGED = `WITH RECURSIVE person (id) AS (SELECT ?::uuid
    UNION SELECT p.id FROM patients p JOIN person ON p.merged_into = person.id WHERE p.tenant_id = ?)
  SELECT id FROM person`;

/**
 * Returns the patient into which a patient was finally merged, or the patient itself if it was not merged. Returns
 * undefined if the tenant has no such patient or the patient was erased.
 */
export async function findSurvivor(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  const patient = await findPatient(transaction, id);
  return patient?.mergedInto === undefined ? patient : findSurvivor(transaction, patient.mergedInto);
}

/**
 * Returns the patient and all patients merged into it, directly or not, ordered by id. Omits erased patients. Returns
 * an empty list if the tenant has no such patient.
 */
export async function findPerson(transaction: Transaction, patientId: string): Promise<PatientRecord[]> {
  return readRecords(transaction, person(transaction, patientId));
}

/**
 * Returns the patient and all patients merged into it, directly or not, ordered by id. Omits erased patients. Locks the
 * rows in this order until the transaction ends. The lock is FOR UPDATE, so it conflicts with the lock of `holdPatient`
 * (FOR KEY SHARE).
 *
 * If another transaction merges a duplicate into the patient while the query waits for the lock, the result does not
 * contain the duplicate. But the patient in the result has the version after this merge.
 */
export async function lockPerson(transaction: Transaction, patientId: string): Promise<PatientRecord[]> {
  return readRecords(transaction, person(transaction, patientId).forUpdate());
}

/**
 * Restricts a query to the rows of a person and returns the query. In these rows, `column` is the id of the patient or
 * of a patient merged into it, directly or not.
 */
export function ofPerson(
  query: Knex.QueryBuilder,
  column: string,
  { tenantId }: Transaction,
  patientId: string,
): Knex.QueryBuilder {
  return query.whereRaw(`?? IN (${MERGED})`, [column, patientId, tenantId]);
}

function person(transaction: Transaction, patientId: string) {
  return ofPerson(knownPatients({ tenant_id: transaction.tenantId }), "id", transaction, patientId)
    .select(patientColumns)
    .orderBy("id");
}

import type { Call, Principal, Transaction } from "../../../call.js";
import { newId } from "../../../uuid.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import {
  knownPatients,
  type PatientRecord,
  patientColumns,
  patientRow,
  patientRowColumns,
} from "../patients/patients.js";
import { bulkInsert, type LockedSource } from "./bulk-insert.js";

/** A new patient, and the time of the patient's consent (RFC 3339). */
export interface ConsentingPatient {
  readonly patient: PatientRecord;
  readonly grantedAt: string;
}

const CONSENT_COLUMNS = ["id", "patient_id", "granted_at", "principal", "correlation_id"];

const insertUnlessActive = bulkInsert("patients", patientRowColumns, "ON CONFLICT DO NOTHING RETURNING id");
const insertWords = bulkInsert("patient_search_words", ["patient_id", "word"]);
const insertConsents = bulkInsert("patient_consents", CONSENT_COLUMNS);

/**
 * Inserts patients with their search words and consents. Skips an ACTIVE patient if another ACTIVE patient, in the
 * table or earlier in the list, has the same document. Returns the ids of the inserted patients.
 */
export async function insertPatients(
  transaction: Transaction,
  source: LockedSource,
  patients: readonly ConsentingPatient[],
  principal: Principal,
  { correlationId }: Call,
): Promise<ReadonlySet<string>> {
  const rows = patients.map(({ patient }) => patientRow(patient));
  const inserted = await transaction.rows<{ id: string }>(insertUnlessActive(source, rows));
  const ids = new Set(inserted.map(({ id }) => id));
  const kept = rows.filter(({ id }) => ids.has(String(id)));
  const words = kept.flatMap(({ id, search_words }) => search_words.map((word) => ({ patient_id: id, word })));
  const consents = patients
    .filter(({ patient }) => ids.has(patient.id))
    .map(({ patient, grantedAt }) => ({
      id: newId(),
      patient_id: patient.id,
      granted_at: grantedAt,
      principal: principal.id,
      correlation_id: correlationId,
    }));
  transaction.send(insertWords(source, words));
  transaction.send(insertConsents(source, consents));
  return ids;
}

/**
 * SQL that follows merges from the patients `:ids`. Each row has an `id` and the `patientId` into which it was finally
 * merged. Both are the same for a patient that was not merged.
 */
const SURVIVORS = `WITH RECURSIVE merged (id, patient_id, merged_into) AS (
    SELECT id, id, merged_into FROM patients WHERE tenant_id = :tenantId AND id = ANY(:ids::uuid[])
    UNION ALL SELECT m.id, p.id, p.merged_into FROM merged m
      JOIN patients p ON p.tenant_id = :tenantId AND p.id = m.merged_into)
  SELECT id, patient_id AS "patientId" FROM merged WHERE merged_into IS NULL`;

/**
 * Locks the patients with these ids and returns them in a map by these ids. If a patient was merged, locks and returns
 * the patient into which it was finally merged. Omits unknown ids and erased patients.
 *
 * Locks in the order of the ids of the locked patients, until the transaction ends. If a patient is merged while this
 * function waits for its lock, the function starts again.
 */
export async function lockPatients(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PatientRecord>> {
  if (ids.length === 0) return new Map();
  const { tenantId } = transaction;
  const heads = await transaction.rows<{ id: string; patientId: string }>(
    sql.raw(SURVIVORS, { tenantId, ids: [...ids] }),
  );
  const query = knownPatients({ tenant_id: tenantId })
    .whereRaw("id = ANY(?::uuid[])", [[...new Set(heads.map(({ patientId }) => patientId))]])
    .orderBy("id")
    .select(patientColumns);
  const locked = await readRecords<PatientRecord>(transaction, query.forNoKeyUpdate());
  if (locked.some(({ mergedInto }) => mergedInto !== undefined)) return lockPatients(transaction, ids);
  const byId = new Map(locked.map((patient) => [patient.id, patient]));
  return new Map(
    heads.flatMap(({ id, patientId }) => {
      const patient = byId.get(patientId);
      return patient === undefined ? [] : [[id, patient]];
    }),
  );
}

import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, type ListPage } from "../resources/lists.js";
import { cases, type DeskCaseRecord } from "./user-attention-cases.js";
import { type DeskWaitlistEntryRecord, entries } from "./waitlist.js";

/** The caller and the time that {@link emptyEntriesOfPatient} stores in the waitlist entries that it closes. */
export interface Emptying {
  readonly principal: string;
  readonly actor: string | undefined;
  readonly at: Date;
}

/** Returns one page of the waitlist entries of a patient, open and closed, ordered by id. */
export async function listEntriesOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<DeskWaitlistEntryRecord[]> {
  return readRecords(transaction, byId(entries(transaction).where({ patient_id: patientId }), page));
}

/**
 * Returns one page of the cases of a patient, ordered by id. Includes a case without a patient if its appointment
 * belongs to the patient.
 */
export async function listCasesOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<DeskCaseRecord[]> {
  return readRecords(transaction, byId(casesOf(transaction, patientId), page));
}

/**
 * Locks and returns all cases of a patient, ordered by id. Includes a case without a patient if its appointment belongs
 * to the patient. The locks last until the transaction ends.
 */
export async function lockCasesOfPatient(transaction: Transaction, patientId: string): Promise<DeskCaseRecord[]> {
  return readRecords(transaction, casesOf(transaction, patientId).orderBy("id").forNoKeyUpdate());
}

/**
 * Empties all texts of these cases. Each case gets a new version. Call this after the transaction has locked the cases.
 */
export function emptyCases(transaction: Transaction, ids: readonly string[]): void {
  const emptied = {
    description: "",
    external_reference: "",
    close_reason: sql.raw("CASE WHEN close_reason IS NOT NULL THEN '' END"),
    version: sql.raw("version + 1"),
  };
  const query = sql("user_attention_cases").where({ tenant_id: transaction.tenantId }).update(emptied);
  transaction.send(query.whereRaw("id = ANY(?::uuid[])", [ids as string[]]));
}

/**
 * Closes the open waitlist entries of a patient, with an empty close reason. Empties the close reasons of the entries
 * that were closed before. Returns the ids and the new versions of the changed entries.
 */
export async function emptyEntriesOfPatient(
  transaction: Transaction,
  patientId: string,
  { principal, actor, at }: Emptying,
): Promise<Pick<DeskWaitlistEntryRecord, "id" | "version">[]> {
  const emptied = {
    close_reason: "",
    closed_at: sql.raw("coalesce(closed_at, ?)", [at]),
    closed_by: sql.raw("coalesce(closed_by, ?)", [principal]),
    closed_by_actor: sql.raw("CASE WHEN closed_at IS NULL THEN ? ELSE closed_by_actor END", [actor ?? null]),
    version: sql.raw("version + 1"),
  };
  const query = sql("waitlist_entries")
    .where({ tenant_id: transaction.tenantId, patient_id: patientId })
    .whereRaw("(closed_at IS NULL OR close_reason <> '')");
  return transaction.rows(query.update(emptied).returning(["id", "version"]));
}

function casesOf(transaction: Transaction, patientId: string) {
  const { tenantId } = transaction;
  return cases(transaction).whereRaw(
    `(patient_id = ? OR (patient_id IS NULL AND appointment_id = ANY(ARRAY(
      SELECT id FROM appointments WHERE tenant_id = ? AND patient_id = ?))))`,
    [patientId, tenantId, patientId],
  );
}

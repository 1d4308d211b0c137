import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, type ListPage } from "../resources/lists.js";
import { type HoldRecord, holds } from "./holds.js";

/** Returns one page of all holds of a patient, also of ended and expired holds, ordered by id. */
export async function listHoldsOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<HoldRecord[]> {
  return readRecords(transaction, byId(holds(transaction).where({ patient_id: patientId }), page));
}

/**
 * Locks and returns all holds of a patient, also ended and expired holds, ordered by id. The locks last until the
 * transaction ends.
 */
export async function lockHoldsOf(transaction: Transaction, patientId: string): Promise<HoldRecord[]> {
  const query = holds(transaction).where({ patient_id: patientId }).orderBy("id").forNoKeyUpdate();
  return readRecords(transaction, query);
}

/**
 * Moves all holds of a patient to another patient in a merge. The transaction must have locked the holds. The caller
 * must also end the live holds, because they can overlap holds of the other patient.
 */
export function moveHolds(transaction: Transaction, fromPatientId: string, toPatientId: string): void {
  const moved = sql("appointment_holds").where({ tenant_id: transaction.tenantId, patient_id: fromPatientId });
  transaction.send(moved.update({ patient_id: toPatientId }));
}

/** Deletes all holds of a patient. Call this after the transaction has locked the holds and released the live ones. */
export function deleteHoldsOf(transaction: Transaction, patientId: string): void {
  transaction.send(sql("appointment_holds").where({ tenant_id: transaction.tenantId, patient_id: patientId }).delete());
}

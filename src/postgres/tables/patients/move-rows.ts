import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** A row that was moved to another patient, with its new version. */
export interface MovedRow {
  readonly id: string;
  readonly version: number;
}

/**
 * The tables whose rows {@link moveRows} moves. A merge moves appointments and holds separately, because it also adds
 * to the history of the appointments and ends live holds.
 */
export type TableOfPatients = "waitlist_entries" | "user_attention_cases" | "notes";

/**
 * Moves all rows of a patient in `table` to another patient, as part of a merge. Each moved row gets a new version.
 * Returns the moved rows, ordered by id. Call this after the transaction has locked both patients.
 */
export async function moveRows(
  transaction: Transaction,
  table: TableOfPatients,
  fromPatientId: string,
  toPatientId: string,
): Promise<MovedRow[]> {
  const key = { tenant_id: transaction.tenantId, patient_id: fromPatientId };
  const change = { patient_id: toPatientId, version: sql.raw("version + 1") };
  const moved = await transaction.rows<MovedRow>(sql(table).where(key).update(change).returning(["id", "version"]));
  return moved.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

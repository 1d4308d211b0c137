import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** A row that got another patient, with the version that it has by it. */
export interface MovedRow {
  readonly id: string;
  readonly version: number;
}

/** What belongs to one patient and goes with them, but for appointments, which keep a history of it. */
export type TableOfPatients = "waitlist_entries" | "user_attention_cases" | "notes";

/** Gives all rows of a patient to another, both of whom are locked to be merged: each is changed by it and has a new version. */
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

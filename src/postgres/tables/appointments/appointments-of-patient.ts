import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, type ListPage } from "../resources/lists.js";
import { type AppointmentChangeRecord, changeColumns } from "./appointment-history.js";
import { type ListedAppointment, withRetention } from "./appointment-lists.js";

/** One page of the appointments of a patient, in any status, in the order of their ids. */
export async function listAppointmentsOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<ListedAppointment[]> {
  const query = withRetention(transaction).where({ patient_id: patientId });
  return readRecords(transaction, byId(query.select({ listedAt: "starts_at" }), page));
}

/** A place in the changes of all appointments of a patient. */
export interface ChangePlace {
  readonly appointmentId: string;
  readonly version: number;
}

/** What happened to the appointments of a patient, behind a place, at most `limit` changes, one appointment after the other. */
export async function listChangesOfPatient(
  transaction: Transaction,
  patientId: string,
  { after, limit }: { readonly after: ChangePlace | undefined; readonly limit: number },
): Promise<AppointmentChangeRecord[]> {
  const { tenantId } = transaction;
  const own = sql("appointments").where({ tenant_id: tenantId, patient_id: patientId }).select("id");
  const query = sql("appointment_history").where({ tenant_id: tenantId }).whereIn("appointment_id", own);
  if (after !== undefined) query.whereRaw("(appointment_id, version) > (?, ?)", [after.appointmentId, after.version]);
  return readRecords(transaction, query.orderBy(["appointment_id", "version"]).limit(limit).select(changeColumns));
}

/** Empties the texts in the history of these appointments, and gives the ids of those that had some. */
export async function emptyHistory(transaction: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const emptied = {
    comment: null,
    correction_reason: sql.raw("CASE WHEN correction_reason IS NOT NULL THEN '' END"),
  };
  const query = sql("appointment_history")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("appointment_id = ANY(?::uuid[])", [ids as string[]])
    .whereRaw("(comment IS NOT NULL OR correction_reason <> '')")
    .update(emptied)
    .returning("appointment_id");
  const rows = await transaction.rows<{ appointment_id: string }>(query);
  return new Set(rows.map(({ appointment_id }) => appointment_id));
}

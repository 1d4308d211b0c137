import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { byId, type ListPage } from "../resources/lists.js";
import { type AppointmentChangeRecord, changeColumns } from "./appointment-history.js";
import { type ListedAppointment, withDisplacement } from "./appointment-lists.js";

/** Returns one page of the appointments of a patient, in any status, ordered by id. */
export async function listAppointmentsOfPatient(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<ListedAppointment[]> {
  const query = withDisplacement(transaction).where({ patient_id: patientId });
  return readRecords(transaction, byId(query.select({ listedAt: "starts_at" }), page));
}

/** The last change of the previous page of {@link listChangesOfPatient}. */
export interface ChangeCursor {
  readonly appointmentId: string;
  readonly version: number;
}

/**
 * Returns at most `limit` changes of the appointments of a patient, ordered by appointment id, then version. Starts
 * after the change `after`, or at the first change if `after` is undefined.
 */
export async function listChangesOfPatient(
  transaction: Transaction,
  patientId: string,
  { after, limit }: { readonly after: ChangeCursor | undefined; readonly limit: number },
): Promise<AppointmentChangeRecord[]> {
  const { tenantId } = transaction;
  const own = sql("appointments").where({ tenant_id: tenantId, patient_id: patientId }).select("id");
  const query = sql("appointment_history").where({ tenant_id: tenantId }).whereIn("appointment_id", own);
  if (after !== undefined) query.whereRaw("(appointment_id, version) > (?, ?)", [after.appointmentId, after.version]);
  return readRecords(transaction, query.orderBy(["appointment_id", "version"]).limit(limit).select(changeColumns));
}

/**
 * Empties the comments, correction reasons and join links in the history of these appointments. Returns the ids of the
 * appointments whose history had at least one of these texts.
 */
export async function emptyHistory(transaction: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const emptied = {
    comment: null,
    correction_reason: sql.raw("CASE WHEN correction_reason IS NOT NULL THEN '' END"),
    visit_before: sql.raw("visit_before - 'joinLink'"),
  };
  const query = sql("appointment_history")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("appointment_id = ANY(?::uuid[])", [ids as string[]])
    .whereRaw("(comment IS NOT NULL OR correction_reason <> '' OR visit_before ->> 'joinLink' IS NOT NULL)")
    .update(emptied)
    .returning("appointment_id");
  const rows = await transaction.rows<{ appointment_id: string }>(query);
  return new Set(rows.map(({ appointment_id }) => appointment_id));
}

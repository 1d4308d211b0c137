import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecords, toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { AppointmentStatus } from "./appointment-status.js";
import { type AppointmentRecord, appointmentColumns } from "./appointments.js";

/** An appointment, and whether the rules no longer have the slot that it occupies. */
export interface ListedAppointment extends AppointmentRecord {
  readonly retained: boolean;
}

/** Which appointments are wanted; what is undefined does not count. */
export interface AppointmentFilter {
  readonly patientId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly programId: string | undefined;
  readonly status: AppointmentStatus | undefined;
  /** Instants between which they begin, the second exclusive. */
  readonly starts: { readonly from: Date; readonly to: Date } | undefined;
}

/** A page of a list in the order in which appointments begin, then of their ids. */
export interface StartPage {
  /** Start and id of the last appointment of the page before. */
  readonly after: StartKey | undefined;
  /** How many rows to read at most. */
  readonly limit: number;
}

/** The place of an appointment in such a list. */
export interface StartKey {
  readonly startsAt: Date;
  readonly id: string;
}

const RETAINED = `EXISTS (SELECT FROM slots s WHERE s.tenant_id = appointments.tenant_id
  AND s.appointment_id = appointments.id AND s.retained) AS retained`;

/** One page of the tenant's appointments. */
export async function listAppointments(
  transaction: Transaction,
  { starts, ...equal }: AppointmentFilter,
  { after, limit }: StartPage,
): Promise<ListedAppointment[]> {
  const columns = toPartialRow(appointmentColumns, givenOnly(equal));
  const query = listed(transaction).where(columns).limit(limit);
  if (starts !== undefined) query.whereRaw("starts_at >= ? AND starts_at < ?", [starts.from, starts.to]);
  if (after !== undefined) query.whereRaw("(starts_at, id) > (?, ?)", [after.startsAt, after.id]);
  return readRecords(transaction, query);
}

/** One page of the appointments in slots of a program that lie ahead and that its rules no longer have. */
export async function listRetainedAppointments(
  transaction: Transaction,
  programId: string,
  now: Date,
  { after, limit }: StartPage,
): Promise<ListedAppointment[]> {
  const slots = sql("slots")
    .where({ tenant_id: transaction.tenantId, program_id: programId })
    .whereRaw("retained")
    .where("starts_at", ">", now)
    .orderBy([{ column: "starts_at" }, { column: "appointment_id" }])
    .limit(limit)
    .select("appointment_id");
  if (after !== undefined) slots.whereRaw("(starts_at, appointment_id) > (?, ?)", [after.startsAt, after.id]);
  const query = listed(transaction).whereIn("id", slots);
  return readRecords(transaction, query);
}

/** Those of the appointments that there are. */
export async function readAppointments(transaction: Transaction, ids: readonly string[]): Promise<ListedAppointment[]> {
  if (ids.length === 0) return [];
  const query = listed(transaction).whereRaw("id = ANY(?::uuid[])", [ids as string[]]);
  return readRecords(transaction, query);
}

function listed({ tenantId }: Transaction): Knex.QueryBuilder {
  return sql("appointments")
    .where({ tenant_id: tenantId })
    .select(appointmentColumns)
    .select(sql.raw(RETAINED))
    .orderBy([{ column: "starts_at" }, { column: "id" }]);
}

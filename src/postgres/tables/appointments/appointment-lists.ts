import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { type AppointmentFilter, type StartPage, wantedAppointments } from "./appointment-filter.js";
import { type AppointmentRecord, appointmentColumns } from "./appointments.js";

/** An appointment, and whether the rules no longer have the slot that it occupies. */
export interface ListedAppointment extends AppointmentRecord {
  readonly retained: boolean;
}

const RETAINED = `EXISTS (SELECT FROM slots s WHERE s.tenant_id = appointments.tenant_id
  AND s.appointment_id = appointments.id AND s.retained) AS retained`;

/** One page of the tenant's appointments. */
export async function listAppointments(
  transaction: Transaction,
  filter: AppointmentFilter,
  page: StartPage,
): Promise<ListedAppointment[]> {
  const wanted = wantedAppointments(transaction, filter, page).as("appointments");
  return readRecords(transaction, listed(transaction).from(wanted).limit(page.limit));
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

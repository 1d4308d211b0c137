import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { Retention, RetentionCause } from "../schedule/slots.js";
import { type AppointmentFilter, type StartPage, wantedAppointments } from "./appointment-filter.js";
import { type AppointmentRecord, appointmentColumns } from "./appointments.js";

/** An appointment, and why its slot is retained; undefined where it is not. */
export interface ListedAppointment extends AppointmentRecord {
  readonly retention: Retention | undefined;
}

/** Where nothing is said of the block, it is left out. */
const RETENTION = `(SELECT jsonb_strip_nulls(jsonb_build_object('cause', s.retained_by, 'blockId', s.retained_by_id,
    'isAccepted', s.retention_accepted))
  FROM slots s WHERE s.tenant_id = appointments.tenant_id AND s.appointment_id = appointments.id AND s.retained) AS retention`;

/** One page of the tenant's appointments. */
export async function listAppointments(
  transaction: Transaction,
  filter: AppointmentFilter,
  page: StartPage,
): Promise<ListedAppointment[]> {
  const wanted = wantedAppointments(transaction, filter, page).as("appointments");
  return readRecords(transaction, listed(transaction).from(wanted).limit(page.limit));
}

/** Which retained appointments are wanted; what is undefined does not count. */
export interface RetainedFilter {
  readonly cause: RetentionCause | undefined;
  readonly blockId: string | undefined;
  readonly programId: string | undefined;
  readonly practitionerId: string | undefined;
  /** Instants between which they begin, the second exclusive. */
  readonly from: Date;
  readonly to: Date | undefined;
  /** Whether those that were accepted as they are count too. */
  readonly includesAccepted: boolean;
}

/** One page of the appointments of the tenant whose slots are retained. */
export async function listRetainedAppointments(
  transaction: Transaction,
  { cause, blockId, programId, practitionerId, from, to, includesAccepted }: RetainedFilter,
  { after, limit }: StartPage,
): Promise<ListedAppointment[]> {
  const equal = { retained_by: cause, retained_by_id: blockId, program_id: programId, practitioner_id: practitionerId };
  const slots = sql("slots")
    .where({ tenant_id: transaction.tenantId, ...givenOnly(equal) })
    .whereRaw("retained")
    .where("starts_at", ">", from)
    .orderBy([{ column: "starts_at" }, { column: "appointment_id" }])
    .limit(limit)
    .select("appointment_id");
  if (to !== undefined) slots.where("starts_at", "<", to);
  if (!includesAccepted) slots.whereRaw("NOT retention_accepted");
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
    .select(sql.raw(RETENTION))
    .orderBy([{ column: "starts_at" }, { column: "id" }]);
}

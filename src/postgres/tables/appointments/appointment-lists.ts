import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { Retention, RetentionCause } from "../schedule/slots.js";
import { type AppointmentFilter, IS_FIRST_RETAINED, type StartPage, wantedAppointments } from "./appointment-filter.js";
import { type AppointmentRecord, appointmentColumns } from "./appointments.js";

/** An appointment, and why it is retained, by the first of its slots that is; undefined where none is. */
export interface ListedAppointment extends AppointmentRecord {
  readonly retention: Retention | undefined;
  /** When it begins, or, in a list of what is retained, when the first of its retained slots does: its place in the list. */
  readonly listedAt: Date;
}

/** Of the tenant that is bound. Where nothing is said of the block, it is left out. */
const RETENTION = `(SELECT jsonb_strip_nulls(jsonb_build_object('cause', s.retained_by, 'blockId', s.retained_by_id,
    'isAccepted', s.retention_accepted))
  FROM slots s WHERE s.tenant_id = ? AND s.appointment_id = appointments.id AND s.retained
  ORDER BY s.starts_at LIMIT 1) AS retention`;

/**
 * An index has every list in its order, to be read no further than the page. A plan that reads without an order reads all
 * that matches, which is seldom as little as the planner takes it for: programs, practitioners, statuses and times go
 * together.
 */
const IN_ORDER = ["SET LOCAL enable_bitmapscan = off", "SET LOCAL enable_seqscan = off"];

/** One page of the tenant's appointments. */
export async function listAppointments(
  transaction: Transaction,
  filter: AppointmentFilter,
  page: StartPage,
): Promise<ListedAppointment[]> {
  for (const setting of IN_ORDER) transaction.send(sql.raw(setting));
  const wanted = wantedAppointments(transaction, filter, page).as("appointments");
  const query = withRetention(transaction).from(wanted).select({ listedAt: "listed_at" }).limit(page.limit);
  return readRecords(transaction, query.orderBy([{ column: "listed_at" }, { column: "id" }]));
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
  for (const setting of IN_ORDER) transaction.send(sql.raw(setting));
  const { tenantId } = transaction;
  const equal = {
    "s.retained_by": cause,
    "s.retained_by_id": blockId,
    "s.program_id": programId,
    "s.practitioner_id": practitionerId,
  };
  const slots = sql({ s: "slots" })
    .where({ "s.tenant_id": tenantId, ...givenOnly(equal) })
    .whereRaw("s.retained AND s.starts_at >= ?", [from])
    .whereRaw(IS_FIRST_RETAINED, [from, tenantId])
    .orderBy([{ column: "s.starts_at" }, { column: "s.appointment_id" }])
    .limit(limit)
    .select({ appointment_id: "s.appointment_id", listed_at: "s.starts_at" });
  if (to !== undefined) slots.where("s.starts_at", "<", to);
  if (!includesAccepted) slots.whereRaw("NOT s.retention_accepted");
  if (after !== undefined) slots.whereRaw("(s.starts_at, s.appointment_id) > (?, ?)", [after.startsAt, after.id]);
  const query = sql("appointments")
    .joinRaw("JOIN (:slots) AS page ON page.appointment_id = appointments.id", { slots })
    .where({ tenant_id: tenantId })
    .select(appointmentColumns, sql.raw(RETENTION, [tenantId]), { listedAt: "page.listed_at" })
    .orderBy([{ column: "page.listed_at" }, { column: "id" }]);
  return readRecords(transaction, query);
}

/** Those of the appointments that there are. */
export async function readAppointments(transaction: Transaction, ids: readonly string[]): Promise<ListedAppointment[]> {
  if (ids.length === 0) return [];
  const query = withRetention(transaction).whereRaw("id = ANY(?::uuid[])", [ids as string[]]);
  return readRecords(
    transaction,
    query.select({ listedAt: "starts_at" }).orderBy([{ column: "starts_at" }, { column: "id" }]),
  );
}

/** All appointments of the tenant, each with why it is retained, to be narrowed down. */
export function withRetention({ tenantId }: Transaction): Knex.QueryBuilder {
  return sql("appointments")
    .where({ tenant_id: tenantId })
    .select(appointmentColumns, sql.raw(RETENTION, [tenantId]));
}

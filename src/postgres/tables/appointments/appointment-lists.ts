import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { Displacement, DisplacementCause } from "../schedule/slots.js";
import { type AppointmentFilter, IS_FIRST_RETAINED, type StartPage, wantedAppointments } from "./appointment-filter.js";
import { type AppointmentRecord, appointmentColumns } from "./appointments.js";

/**
 * An appointment, and why it is displaced. `displacement` describes its first retained slot: a slot that is no longer
 * in the schedule and exists only for the appointment. `displacement` is undefined if the appointment has no retained
 * slot.
 */
export interface ListedAppointment extends AppointmentRecord {
  readonly displacement: Displacement | undefined;
  /**
   * The time by which the list is ordered. If the filter selects only displaced appointments and has no patient and no
   * series: the start of the first retained slot in the time range of the list. Otherwise: the start of the
   * appointment.
   */
  readonly listedAt: Date;
}

/**
 * SQL for the displacement of a row of `appointments` as JSON; NULL if the appointment is not displaced. The JSON has a
 * `blockId` only if the cause is a block. The placeholder is the tenant.
 */
const DISPLACEMENT = `(SELECT jsonb_strip_nulls(jsonb_build_object('cause', s.retained_by, 'blockId', s.retained_by_id,
    'isAccepted', s.retention_accepted))
  FROM slots s WHERE s.tenant_id = ? AND s.appointment_id = appointments.id AND s.retained
  ORDER BY s.starts_at LIMIT 1) AS displacement`;

/**
 * Settings that make the planner read an index in the order of the list and stop after the page. Otherwise the query
 * might read all matching rows and sort them. The planner often underestimates the number of matching rows, because
 * program, practitioner, status and time are correlated.
 */
const IN_ORDER = ["SET LOCAL enable_bitmapscan = off", "SET LOCAL enable_seqscan = off"];

/** Returns one page of the tenant's appointments that match a filter, ordered by `listedAt`, then id. */
export async function listAppointments(
  transaction: Transaction,
  filter: AppointmentFilter,
  page: StartPage,
): Promise<ListedAppointment[]> {
  for (const setting of IN_ORDER) transaction.send(sql.raw(setting));
  const wanted = wantedAppointments(transaction, filter, page).as("appointments");
  const query = withDisplacement(transaction).from(wanted).select({ listedAt: "listed_at" }).limit(page.limit);
  return readRecords(transaction, query.orderBy([{ column: "listed_at" }, { column: "id" }]));
}

/**
 * Filters of a list of displaced appointments (see {@link Displacement}). An appointment keeps a slot that the schedule
 * has dropped: the slot is `retained`. The filters apply to the first retained slot of each appointment that starts at
 * `from` or later. Undefined means no restriction.
 */
export interface DisplacedFilter {
  readonly cause: DisplacementCause | undefined;
  readonly blockId: string | undefined;
  readonly programId: string | undefined;
  readonly practitionerId: string | undefined;
  /**
   * Considers only slots that start at `from` or later. The first of them that the schedule no longer has (`retained`)
   * must start before `to`, if `to` is defined.
   */
  readonly from: Date;
  readonly to: Date | undefined;
  /** If false, the list omits appointments that staff have accepted although their slots are not in the schedule. */
  readonly includesAccepted: boolean;
}

/**
 * Returns one page of the tenant's displaced appointments (see {@link Displacement}), ordered by `listedAt`, then id.
 * `listedAt` is the start of the first `retained` slot that starts at `from` or later. The schedule no longer has a
 * retained slot.
 */
export async function listDisplacedAppointments(
  transaction: Transaction,
  { cause, blockId, programId, practitionerId, from, to, includesAccepted }: DisplacedFilter,
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
    .select(appointmentColumns, sql.raw(DISPLACEMENT, [tenantId]), { listedAt: "page.listed_at" })
    .orderBy([{ column: "page.listed_at" }, { column: "id" }]);
  return readRecords(transaction, query);
}

/** Returns the appointments with these ids that exist, ordered by start, then id. */
export async function readAppointments(transaction: Transaction, ids: readonly string[]): Promise<ListedAppointment[]> {
  if (ids.length === 0) return [];
  const query = withDisplacement(transaction).whereRaw("id = ANY(?::uuid[])", [ids as string[]]);
  return readRecords(
    transaction,
    query.select({ listedAt: "starts_at" }).orderBy([{ column: "starts_at" }, { column: "id" }]),
  );
}

/** Returns a query for all appointments of the tenant, with their displacement. The caller can add conditions. */
export function withDisplacement({ tenantId }: Transaction): Knex.QueryBuilder {
  return sql("appointments")
    .where({ tenant_id: tenantId })
    .select(appointmentColumns, sql.raw(DISPLACEMENT, [tenantId]));
}

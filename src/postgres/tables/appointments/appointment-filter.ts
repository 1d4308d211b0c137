import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { AppointmentStatus } from "./appointment-status.js";
import { appointmentColumns } from "./appointments.js";

/** Which appointments are wanted; what is undefined does not count. */
export interface AppointmentFilter {
  readonly patientId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly programId: string | undefined;
  readonly locationId: string | undefined;
  /** In one of these, each named once; none for any. */
  readonly statuses: readonly AppointmentStatus[];
  /** Whether the rules no longer have the slot that they occupy. */
  readonly retained: boolean | undefined;
  /** They begin at this instant or later. */
  readonly from: Date | undefined;
  /** They begin before this instant. */
  readonly before: Date | undefined;
}

/** A page of a list in the order in which appointments begin, then of their ids. */
export interface StartPage {
  /** Start and id of the last appointment of the page before. */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  /** How many rows to read at most. */
  readonly limit: number;
}

const COLUMNS = ["tenant_id", ...Object.values(appointmentColumns)].map((column) => `a.${column}`);

/**
 * Of several retained slots of an appointment `s` is the first that begins at the first value bound, an instant, or later, whenever
 * that is null; the second is the tenant: each appointment is listed once. An aggregate over the appointment's slots, because NOT EXISTS might be planned as a
 * join with every retained slot.
 */
export const IS_FIRST_RETAINED = `(SELECT bool_and(NOT e.retained OR e.starts_at >= s.starts_at OR e.starts_at < ?::timestamptz)
  FROM slots e WHERE e.tenant_id = ? AND e.appointment_id = s.appointment_id) IS NOT FALSE`;

/** An aggregate, because EXISTS might be planned as a join with every retained slot. */
const IS_RETAINED = `COALESCE((SELECT bool_or(s.retained) FROM slots AS s
  WHERE s.tenant_id = ? AND s.appointment_id = a.id), false)`;

/**
 * The wanted appointments of a page, unordered, as a table of their columns and `listed_at`, by
 * which they are to be listed: when they begin, or when the first of their retained slots does. Whatever is wanted, an index has it in order,
 * and is read no further than the page: those that are retained by their slots, which are few; of the others each status by
 * itself, because an index has one status at a time in order.
 */
export function wantedAppointments(
  transaction: Transaction,
  filter: AppointmentFilter,
  page: StartPage,
): Knex.QueryBuilder {
  const { statuses, retained, patientId } = filter;
  if (retained === true && patientId === undefined) return inRetainedSlots(transaction, filter, page);
  const all = () => matching(transaction, filter, page);
  const ofEach = statuses.map((status) => all().where({ "a.status": status }));
  return ofEach.length > 1 ? sql.queryBuilder().unionAll(ofEach, true) : (ofEach[0] ?? all());
}

function matching({ tenantId }: Transaction, filter: AppointmentFilter, page: StartPage): Knex.QueryBuilder {
  const { patientId, practitionerId, programId, locationId, retained } = filter;
  const ids = toPartialRow(appointmentColumns, givenOnly({ patientId, practitionerId, programId, locationId }));
  const query = sql("appointments as a").where({ "a.tenant_id": tenantId }).where(qualified("a", ids));
  query.select(COLUMNS).select({ listed_at: "a.starts_at" });
  if (retained !== undefined) query.whereRaw(`${IS_RETAINED} = ?`, [tenantId, retained]);
  return pageOf(query, filter, page, ["a.starts_at", "a.id"]);
}

/** What a slot does not know of its appointment is looked up one by one, in their order: a join might read them all. */
function inRetainedSlots({ tenantId }: Transaction, filter: AppointmentFilter, page: StartPage): Knex.QueryBuilder {
  const { practitionerId, programId, locationId, statuses } = filter;
  const ids = toPartialRow(appointmentColumns, givenOnly({ practitionerId, programId }));
  const slots = sql("slots as s").where({ "s.tenant_id": tenantId }).where(qualified("s", ids)).whereRaw("s.retained");
  if (locationId !== undefined || statuses.length > 0) {
    slots.whereRaw(
      `(SELECT a.location_id = COALESCE(?::uuid, a.location_id) AND (a.status = ANY(?::text[]) OR ?::integer = 0)
        FROM appointments AS a WHERE a.tenant_id = ? AND a.id = s.appointment_id)`,
      [locationId ?? null, statuses as string[], statuses.length, tenantId],
    );
  }
  slots.whereRaw(IS_FIRST_RETAINED, [filter.from ?? null, tenantId]);
  pageOf(slots.select("s.appointment_id", "s.starts_at"), filter, page, ["s.starts_at", "s.appointment_id"]);
  return sql("appointments as a")
    .joinRaw("JOIN (:slots) AS page ON page.appointment_id = a.id", { slots })
    .where({ "a.tenant_id": tenantId })
    .select(COLUMNS)
    .select({ listed_at: "page.starts_at" });
}

function pageOf(
  query: Knex.QueryBuilder,
  { from, before }: AppointmentFilter,
  { after, limit }: StartPage,
  [startsAt, id]: readonly [string, string],
): Knex.QueryBuilder {
  if (from !== undefined) query.where(startsAt, ">=", from);
  if (before !== undefined) query.where(startsAt, "<", before);
  if (after !== undefined) query.whereRaw("(??, ??) > (?, ?)", [startsAt, id, after.startsAt, after.id]);
  return query.orderBy([startsAt, id]).limit(limit);
}

function qualified(table: string, columns: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).map(([column, value]) => [`${table}.${column}`, value]));
}

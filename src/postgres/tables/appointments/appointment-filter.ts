import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { givenOnly } from "../resources/lists.js";
import type { AppointmentStatus } from "./appointment-status.js";
import { appointmentColumns } from "./appointments.js";

/** Filters of a list of appointments. Undefined means no restriction. */
export interface AppointmentFilter {
  readonly patientId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly programId: string | undefined;
  readonly locationId: string | undefined;
  /**
   * Practitioner ids without duplicates. Empty for no restriction, and if `practitionerId` is defined. The same rules
   * apply to `locationIds` and `locationId`. `serviceIds` is empty for no restriction.
   */
  readonly practitionerIds: readonly string[];
  readonly locationIds: readonly string[];
  readonly serviceIds: readonly string[];
  /** Statuses without duplicates; empty for no restriction. */
  readonly statuses: readonly AppointmentStatus[];
  /**
   * If true, selects displaced appointments. If false, selects all others. An appointment is displaced if at least one
   * of its slots is no longer in the schedule.
   */
  readonly displaced: boolean | undefined;
  readonly seriesId: string | undefined;
  /** Selects appointments whose `listed_at` (see {@link wantedAppointments}) is at this instant or later. */
  readonly from: Date | undefined;
  /** Selects appointments whose `listed_at` (see {@link wantedAppointments}) is before this instant. */
  readonly before: Date | undefined;
}

/** A page of a list of appointments that is ordered by `listedAt` (see `ListedAppointment`), then by id. */
export interface StartPage {
  /**
   * The position after which the page begins: the id and the `listedAt` of the last appointment of the previous page.
   * The property `startsAt` holds `listedAt`. Undefined for the first page.
   */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  /** The maximum number of rows. */
  readonly limit: number;
}

const COLUMNS = ["tenant_id", ...Object.values(appointmentColumns)].map((column) => `a.${column}`);

/**
 * SQL for whether the slot `s` is the first of its appointment's retained slots that start at a given instant or later.
 * A retained slot is no longer in the schedule and exists only for its appointment. The placeholders are the instant
 * (null for no limit) and the tenant.
 *
 * The condition aggregates the slots of one appointment. With NOT EXISTS instead, PostgreSQL might plan a join with
 * every retained slot.
 */
export const IS_FIRST_RETAINED = `(SELECT bool_and(NOT e.retained OR e.starts_at >= s.starts_at OR COALESCE(e.starts_at < ?::timestamptz, false))
  FROM slots e WHERE e.tenant_id = ? AND e.appointment_id = s.appointment_id) IS NOT FALSE`;

/**
 * SQL for whether the appointment `a` is displaced: it has a retained slot, which is no longer in the schedule. The
 * placeholder is the tenant. The condition aggregates the slots of one appointment. With EXISTS instead, PostgreSQL
 * might plan a join with every retained slot.
 */
const IS_DISPLACED = `COALESCE((SELECT bool_or(s.retained) FROM slots AS s
  WHERE s.tenant_id = ? AND s.appointment_id = a.id), false)`;

/**
 * Returns a query for one page of the appointments that match a filter, with the columns of appointments and
 * `listed_at`. The query may return more rows than the page has. So the caller orders the rows by `listed_at`, then id,
 * and keeps the first `page.limit`.
 *
 * - If the filter selects only displaced appointments and has no patient and no series: `listed_at` is the start of the
 *   first retained slot that starts at `filter.from` or later. A retained slot is no longer in the schedule.
 * - Otherwise: `listed_at` is the start of the appointment. The query reads each status and practitioner of the filter
 *   separately, because an index has the order of the list only within one status and one practitioner.
 */
export function wantedAppointments(
  transaction: Transaction,
  filter: AppointmentFilter,
  page: StartPage,
): Knex.QueryBuilder {
  const { statuses, displaced, patientId, seriesId, practitionerIds } = filter;
  if (displaced === true && patientId === undefined && seriesId === undefined)
    return inRetainedSlots(transaction, filter, page);
  const people = practitionerIds.length === 0 ? [filter.practitionerId] : practitionerIds;
  const all = people.map((practitionerId) => () => matching(transaction, { ...filter, practitionerId }, page));
  const ofEach = all.flatMap((read) =>
    statuses.length === 0 ? [read()] : statuses.map((status) => read().where({ "a.status": status })),
  );
  return sql.queryBuilder().unionAll(ofEach, true);
}

function matching({ tenantId }: Transaction, filter: AppointmentFilter, page: StartPage): Knex.QueryBuilder {
  const { patientId, practitionerId, programId, locationId, seriesId, displaced } = filter;
  const given = givenOnly({ patientId, practitionerId, programId, locationId, seriesId });
  const ids = toPartialRow(appointmentColumns, given);
  const query = sql("appointments as a").where({ "a.tenant_id": tenantId }).where(qualified("a", ids));
  query.select(COLUMNS).select({ listed_at: "a.starts_at" });
  if (filter.locationIds.length > 0) query.whereRaw("a.location_id = ANY(?::uuid[])", [[...filter.locationIds]]);
  if (filter.serviceIds.length > 0) query.whereRaw("a.service_id = ANY(?::uuid[])", [[...filter.serviceIds]]);
  if (displaced !== undefined) query.whereRaw(`${IS_DISPLACED} = ?`, [tenantId, displaced]);
  return pageOf(query, filter, page, ["a.starts_at", "a.id"]);
}

const IS_WANTED = `(SELECT (a.location_id = ANY(?::uuid[]) OR ?::integer = 0)
    AND (a.service_id = ANY(?::uuid[]) OR ?::integer = 0) AND (a.status = ANY(?::text[]) OR ?::integer = 0)
  FROM appointments AS a WHERE a.tenant_id = ? AND a.id = s.appointment_id)`;

/**
 * Returns a query for one page of displaced appointments, with the columns of {@link wantedAppointments}. The query
 * reads retained slots in order.
 *
 * If the filter has locations, services or statuses, a subquery reads these attributes of the appointment of each slot.
 * With a join instead, PostgreSQL might read all appointments. CASE makes PostgreSQL check these attributes before
 * {@link IS_FIRST_RETAINED}, because they exclude most slots.
 */
function inRetainedSlots({ tenantId }: Transaction, filter: AppointmentFilter, page: StartPage): Knex.QueryBuilder {
  const { practitionerId, programId, practitionerIds, serviceIds, statuses } = filter;
  const locationIds = filter.locationId === undefined ? filter.locationIds : [filter.locationId];
  const ids = toPartialRow(appointmentColumns, givenOnly({ practitionerId, programId }));
  const slots = sql("slots as s").where({ "s.tenant_id": tenantId }).where(qualified("s", ids)).whereRaw("s.retained");
  if (practitionerIds.length > 0) slots.whereRaw("s.practitioner_id = ANY(?::uuid[])", [[...practitionerIds]]);
  const first = [filter.from ?? null, tenantId];
  const lists = [locationIds, serviceIds, statuses];
  if (lists.every(({ length }) => length === 0)) slots.whereRaw(IS_FIRST_RETAINED, first);
  else {
    const wanted = [...lists.flatMap((list) => [[...list], list.length]), tenantId];
    slots.whereRaw(`CASE WHEN ${IS_WANTED} THEN ${IS_FIRST_RETAINED} END`, [...wanted, ...first]);
  }
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

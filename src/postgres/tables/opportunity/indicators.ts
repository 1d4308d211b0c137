import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { liveHolds } from "../../held-until.js";
import { sql } from "../../sql.js";
import { busyTime } from "../appointments/busy-times.js";
import { windowOf } from "../schedule/booking-windows.js";
import { CELLS, COUNTED_APPOINTMENTS, COUNTED_CHANGES, cellKey, cellSums } from "./summary-cells.js";

/** An attribute by which appointments can be grouped. */
export type GroupAttribute = "month" | "serviceId" | "locationId" | "payerId" | "programId";

/** A query of the indicators: the months, the filters and the attributes to group by. */
export interface IndicatorQuery {
  /** The first day of the first month, YYYY-MM-DD. */
  readonly monthFrom: string;
  /** The first day of the last month, YYYY-MM-DD. */
  readonly monthTo: string;
  readonly serviceId: string | undefined;
  readonly locationId: string | undefined;
  readonly payerId: string | undefined;
  readonly programId: string | undefined;
  readonly groupBy: ReadonlySet<GroupAttribute>;
  readonly now: Date;
  /** The maximum number of groups that {@link readGroups} returns. The other functions return all groups. */
  readonly limit: number;
}

/**
 * The attributes of a group; undefined for attributes that the query does not group by. `payerId` is also undefined for
 * appointments without a payer. `month` is the first day of the month.
 */
export type Group = { readonly [K in GroupAttribute]: string | undefined };

/**
 * The sums over the appointments of a group. The members `assigned…` count the waits from the request to the booking.
 * The members `attended…` count the waits from the request to an attended appointment. The waits are in calendar days
 * or in business days. Members that end with `First` count first visits only. `bookedMinutes` omits CANCELLED, NO_SHOW
 * and overbooked appointments.
 *
 * Each member `assigned…` or `attended…` is a histogram in one decimal number, with eight digits for each number of
 * days. For example, 300000002 means two waits of 0 days and three waits of 1 day.
 */
export interface GroupRecord extends Group {
  readonly assignedCalendar: string;
  readonly assignedBusiness: string;
  readonly attendedCalendar: string;
  readonly attendedBusiness: string;
  readonly assignedCalendarFirst: string;
  readonly assignedBusinessFirst: string;
  readonly attendedCalendarFirst: string;
  readonly attendedBusinessFirst: string;
  readonly breaches: number;
  readonly noShows: number;
  readonly bookedMinutes: number;
}

/**
 * Returns the sums of at most `query.limit` groups, ordered by the attributes of the group. Omits groups whose sums are
 * all 0: their appointments may have moved to other groups. Adds up the rows of `opportunity_summaries` and the changes
 * in `opportunity_changes`. These changes are not in the summaries yet. While the summaries of the tenant are
 * incomplete, the sums come from the tenant's appointments instead.
 */
export function readGroups(transaction: Transaction, query: IndicatorQuery): Promise<GroupRecord[]> {
  const text = `WITH counted AS (${COUNTED_CHANGES} AND ${IS_COMPLETE}
      UNION ALL ${COUNTED_APPOINTMENTS} AND NOT ${IS_COMPLETE}), ${CELLS},
    kept AS (SELECT ${KEY_AND_SUMS} FROM opportunity_summaries WHERE tenant_id = :tenant AND ${IS_COMPLETE}
      UNION ALL SELECT ${KEY_AND_SUMS} FROM cells)
    SELECT ${groupOf(query, COLUMNS)}, ${HISTOGRAMS.map(histogramsOf).join(", ")},
      sum(breaches)::integer AS breaches, sum(no_shows)::integer AS "noShows",
      sum(booked_minutes)::float8 AS "bookedMinutes"
    FROM kept WHERE month BETWEEN :monthFrom::date AND :monthTo::date
      AND ${["service_id", "location_id", "payer_id", "program_id"].map(isWanted).join(" AND ")}
    GROUP BY 1, 2, 3, 4, 5 HAVING ${cellSums.map((sum) => `sum(${sum}) <> 0`).join(" OR ")}
    ORDER BY 1, 2, 3, 4, 5 LIMIT :limit`;
  return readRecords(transaction, sql.raw(text, bindingsOf(transaction, query)));
}

/** The minutes of the free slots of a group. `serviceId` and `payerId` are always undefined. */
export interface FreeMinutes extends Group {
  readonly minutes: number;
}

/**
 * Returns the total minutes of the free slots of each group. Includes the minutes of past free slots that were deleted.
 * Ignores the filters `serviceId` and `payerId`.
 */
export function readFreeMinutes(transaction: Transaction, query: IndicatorQuery): Promise<FreeMinutes[]> {
  const text = `WITH kept AS (
      SELECT u.month, u.program_id, u.minutes FROM unfilled_minutes u
      WHERE u.tenant_id = :tenant AND u.month BETWEEN :monthFrom::date AND :monthTo::date
      UNION ALL
      SELECT date_trunc('month', s.local_date::timestamp)::date, s.program_id,
        sum(extract(epoch FROM s.ends_at - s.starts_at)) / 60
      FROM slots s WHERE s.tenant_id = :tenant AND s.appointment_id IS NULL
        AND s.local_date BETWEEN :monthFrom::date AND (:monthTo::date + interval '1 month' - interval '1 day')::date
      GROUP BY 1, 2)
    SELECT ${groupOf(query, { ...COLUMNS, serviceId: undefined, payerId: undefined })}, sum(minutes)::float8 AS minutes
    FROM kept JOIN ${programs("id AS program_id, location_id")} USING (program_id) GROUP BY 1, 2, 3, 4, 5`;
  return readRecords(transaction, sql.raw(text, bindingsOf(transaction, query)));
}

/** The date of the third future free slot of a group. `month` and `payerId` are always undefined. */
export interface ThirdNext extends Group {
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly localDate: string;
}

/**
 * Returns the day of the third free slot after `now` of each group. Omits groups with fewer than three free slots. A
 * slot does not count in these cases:
 * - Its program is inactive or an emergency program.
 * - It is outside the time range of {@link windowOf}.
 * - The practitioner has an appointment during the slot. A hold of the practitioner does not matter.
 * - Its day has no capacity left. Live holds use capacity, as appointments do.
 *
 * Ignores the months and the filter `payerId`.
 */
export function readThirdNext(transaction: Transaction, query: IndicatorQuery): Promise<ThirdNext[]> {
  const isByService = query.groupBy.has("serviceId") || query.serviceId !== undefined;
  const services = `JOIN (SELECT program_id, service_id FROM program_services
    WHERE tenant_id = :tenant AND ${isWanted("service_id")}) AS o USING (program_id)`;
  const text = `WITH next AS (
      SELECT p.program_id, p.location_id, s.starts_at, s.local_date
      FROM ${programs(`id AS program_id, location_id, active, emergency, ${OF_WINDOW}`)}
      LEFT JOIN tenant_settings t ON t.tenant_id = :tenant
      CROSS JOIN LATERAL (SELECT s.starts_at, s.local_date FROM slots s
        WHERE s.tenant_id = :tenant AND s.program_id = p.program_id AND s.appointment_id IS NULL
          AND s.starts_at > :now::timestamptz AND s.starts_at >= :opens AND s.starts_at < :closes
          AND (${busyTime("practitioner_id", SLOT)}) IS NULL AND NOT EXISTS (SELECT FROM day_counters c
            JOIN program_rules r ON r.tenant_id = :tenant AND r.id = c.rule_id
            WHERE c.tenant_id = :tenant AND c.rule_id = s.rule_id AND c.local_date = s.local_date
              AND c.booked + ${liveHolds("c.held", ":now::timestamptz")} >= r.daily_capacity)
        ORDER BY s.starts_at LIMIT 3) AS s
      WHERE p.active AND NOT p.emergency)
    SELECT ${groupOf(query, { ...COLUMNS, month: undefined, payerId: undefined })},
      (array_agg(local_date ORDER BY starts_at))[3] AS "localDate"
    FROM next ${isByService ? services : ""} GROUP BY 1, 2, 3, 4, 5 HAVING count(*) >= 3`;
  return readRecords(transaction, sql.raw(text, { ...bindingsOf(transaction, query), ...windowOf(query.now) }));
}

/** The columns of a program that {@link windowOf} reads. */
const OF_WINDOW = "horizon_days, minimum_notice_minutes, outdated_from";

/** A time in which the practitioner of a slot `s` has no appointment. At this `now`, all holds have expired. */
const SLOT = {
  tenantId: ":tenant",
  personId: "s.practitioner_id",
  startsAt: "s.starts_at",
  endsAt: "s.ends_at",
  exceptId: "NULL::uuid",
  now: "'infinity'::timestamptz",
};

const KEY_AND_SUMS = `${cellKey}, ${cellSums.join(", ")}`;
const IS_COMPLETE = "EXISTS (SELECT FROM opportunity_states WHERE tenant_id = :tenant AND built_through IS NULL)";

/** SQL for the value of each group attribute; undefined for an attribute without a column. */
const COLUMNS: Readonly<Record<GroupAttribute, string | undefined>> = {
  month: "month::text",
  serviceId: "service_id",
  locationId: "location_id",
  payerId: "nullif(payer_id, '00000000-0000-0000-0000-000000000000'::uuid)",
  programId: "program_id",
};

const HISTOGRAMS = [
  ["assigned_calendar", "assignedCalendar"],
  ["assigned_business", "assignedBusiness"],
  ["attended_calendar", "attendedCalendar"],
  ["attended_business", "attendedBusiness"],
] as const;

function histogramsOf([column, name]: (typeof HISTOGRAMS)[number]): string {
  const first = `coalesce(sum(${column}) FILTER (WHERE first_visit), 0)`;
  return `sum(${column})::text AS "${name}", ${first}::text AS "${name}First"`;
}

/** SQL for the five attributes of a group; null if an attribute has no column or the query does not group by it. */
function groupOf({ groupBy }: IndicatorQuery, columns: typeof COLUMNS): string {
  return (Object.keys(COLUMNS) as GroupAttribute[])
    .map((name) => `${(groupBy.has(name) ? columns[name] : undefined) ?? "NULL::text"} AS "${name}"`)
    .join(", ");
}

function isWanted(column: string): string {
  const name = column.replace(/_id$/, "Id");
  return `(:${name}::uuid IS NULL OR ${column} = :${name}::uuid)`;
}

function programs(columns: string): string {
  return `(SELECT ${columns} FROM programs WHERE tenant_id = :tenant AND (:programId::uuid IS NULL OR id = :programId::uuid)
      AND ${isWanted("location_id")}) AS p`;
}

function bindingsOf({ tenantId: tenant }: Transaction, query: IndicatorQuery) {
  const { monthFrom, monthTo, now, limit } = query;
  const { serviceId = null, locationId = null, payerId = null, programId = null } = query;
  return { tenant, monthFrom, monthTo, now, limit, serviceId, locationId, payerId, programId };
}

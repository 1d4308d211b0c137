import type { Principal } from "../../../call.js";
import { liveHolds } from "../../held-until.js";
import type { DayOfRule } from "./day-counters.js";

/** The conditions of a search for free slots. */
export interface OptionQuery {
  /** The patient who must be free during an option. If undefined, only the practitioner must be free. */
  readonly patientId: string | undefined;
  /** The appointment that is to be moved. It makes neither its patient nor its practitioner busy. */
  readonly appointmentId: string | undefined;
  /** The rule and date whose capacity the appointment to move already uses; undefined if it uses none. */
  readonly heldDay: DayOfRule | undefined;
  /** The current time. A hold that expires later makes practitioner and patient busy and uses capacity. */
  readonly now: Date;
  readonly serviceId: string;
  /**
   * The duration of an option in minutes; the option can consist of several slots. Undefined for one slot of any
   * length.
   */
  readonly minutes: number | undefined;
  /**
   * How many minutes the patient must be free, rounded up to the end of a slot: the duration without the buffer.
   * Undefined for the whole duration.
   */
  readonly visitMinutes: number | undefined;
  /** Slots start at `from` or later and before `to`. */
  readonly from: Date;
  readonly to: Date;
  /**
   * Parts of the local day in which slots start, in seconds since midnight; `endSecond` is exclusive. Empty for the
   * whole day.
   */
  readonly windows: readonly { readonly startSecond: number; readonly endSecond: number }[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
  /** Start and id of the first slot of the last option on the previous page; undefined for the first page. */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/** The properties of a search that determine the text of its SQL statement. */
export interface SearchShape {
  /** Whether the search is limited to parts of the day. */
  readonly isWindowed: boolean;
  /** Whether the search is for one practitioner. */
  readonly isOfOne: boolean;
  /** Whether an option can consist of several adjacent slots. */
  readonly hasRuns: boolean;
}

/** Returns the properties of a search that determine the text of its SQL statement. */
export function shapeOf({ windows, practitionerId, minutes }: OptionQuery): SearchShape {
  return { isWindowed: windows.length > 0, isOfOne: practitionerId !== undefined, hasRuns: minutes !== undefined };
}

/**
 * The parameters of every search. Searches in parts of the day add WINDOW_NAMES; searches for one practitioner add
 * ONE_NAMES.
 */
const NAMES = [
  ...(["tenantId", "organizationId", "companyId", "serviceId", "locationId", "includeEmergency"] as const),
  ...(["now", "from", "to", "heldRuleId", "heldDate", "seed", "afterStart", "afterId", "wanted", "stretch"] as const),
] as const;
const WINDOW_NAMES = ["starts", "ends"] as const;
const ONE_NAMES = ["practitionerId"] as const;

/** The name of a parameter that {@link namesOf} can return. */
export type SlotName = (typeof NAMES | typeof WINDOW_NAMES | typeof ONE_NAMES)[number];

/** Returns the names of the parameters of {@link freeSlots} and of the CTE `offered`. */
export function namesOf({ isWindowed, isOfOne }: SearchShape): readonly SlotName[] {
  return [...NAMES, ...(isWindowed ? WINDOW_NAMES : []), ...(isOfOne ? ONE_NAMES : [])];
}

/** The time range and the number of slots that one statement of a search reads. */
export interface Reach {
  readonly from: Date;
  /**
   * The approximate number of slots to read in each time range, in all programs together. In a search for one
   * practitioner, this is the number for each program.
   */
  readonly wanted: number;
  /** The statement reads slots that start less than this many seconds after the first free slot. */
  readonly stretch: number;
}

/** Returns the values of the parameters that {@link namesOf} can name, by name. */
export function valuesOf(
  { tenantId, organizationId, companyId }: Principal,
  query: OptionQuery,
  { from, wanted, stretch }: Reach,
): Readonly<Record<SlotName, unknown>> {
  const { serviceId, includeEmergency, now, to, heldDay, after, windows } = query;
  return {
    tenantId,
    serviceId,
    includeEmergency,
    now,
    from,
    to,
    wanted,
    stretch,
    organizationId: organizationId ?? null,
    companyId: companyId ?? null,
    locationId: query.locationId ?? null,
    heldRuleId: heldDay?.ruleId ?? null,
    heldDate: heldDay?.localDate ?? null,
    seed: seedOf(query),
    afterStart: after?.startsAt ?? null,
    afterId: after?.id ?? null,
    starts: windows.map(({ startSecond }) => startSecond),
    ends: windows.map(({ endSecond }) => endSecond),
    practitionerId: query.practitionerId,
  };
}

/**
 * Returns the seed that orders slots with the same start, so that searches for different patients begin with different
 * slots. The seed is the last 64 bits of the id of the appointment to move. For a new appointment, it is the last 64
 * bits of the patient's id; without a patient, 0.
 */
function seedOf({ appointmentId, patientId }: Pick<OptionQuery, "appointmentId" | "patientId">): string {
  const subject = appointmentId ?? patientId;
  return subject === undefined ? "0" : BigInt.asIntN(64, BigInt(`0x${subject.replaceAll("-", "")}`)).toString();
}

/**
 * Returns SQL for CTEs that find free slots. They follow the CTE `offered`, which has a row for each program to search.
 * The slots of a program start at its `opens` or later and before its `closes`.
 *
 * - `next`: the start of the first free slot, even on a full day. No row if there is no free slot.
 * - `share`: the number of slots to read from each program and time range.
 * - `found`: the earliest free slots of each program and time range, and further slots with the same start as the last.
 *   Omits slots on full days and slots of previous pages. The practitioner or the patient may be busy at these slots.
 * - `stop`: a time, in the column `at`. All free slots before this time are in `found` or omitted. No row if `next` is
 *   empty.
 */
export function freeSlots(shape: SearchShape): string {
  const slots = `slots s WHERE s.tenant_id = :tenantId AND s.program_id = p.id AND s.appointment_id IS NULL
      AND s.starts_at >= p.opens AND s.starts_at < p.closes ${shape.isOfOne ? OF_PRACTITIONER : ""}`;
  return `ranges AS MATERIALIZED (${shape.isWindowed ? PARTS_OF_DAYS : WHOLE_TIME}),
  next AS MATERIALIZED (
    SELECT f.starts_at FROM (SELECT * FROM ranges ORDER BY since OFFSET 0) AS r CROSS JOIN LATERAL (
      SELECT min(f.starts_at) AS starts_at FROM offered AS p CROSS JOIN LATERAL (
        SELECT s.starts_at FROM ${slots} AND s.starts_at >= r.since AND s.starts_at < r.until
        ORDER BY s.starts_at LIMIT 1) AS f) AS f
    WHERE f.starts_at IS NOT NULL ORDER BY r.since LIMIT 1),
  share AS MATERIALIZED (SELECT ${shape.isOfOne ? ":wanted::bigint" : SHARE} AS slots),
  found AS MATERIALIZED (
    SELECT s.*, r.since, p.location_id, p.emergency
    FROM next AS n CROSS JOIN ranges AS r CROSS JOIN offered AS p CROSS JOIN LATERAL (
      SELECT s.id, s.generation, s.program_id, s.practitioner_id, s.starts_at, s.ends_at, s.rule_id, s.local_date
      FROM ${slots} AND s.starts_at >= greatest(r.since, n.starts_at) AND s.starts_at < least(r.until, ${END})
        AND ${DAY_NOT_FULL} AND ${AFTER}
      ORDER BY s.starts_at FETCH FIRST (SELECT slots FROM share) ROWS WITH TIES) AS s
    WHERE r.until > n.starts_at AND r.since < ${END}),
  stop AS MATERIALIZED (
    SELECT coalesce((SELECT min(t.last) + interval '1 millisecond' FROM (
      SELECT max(starts_at) AS last FROM found GROUP BY program_id, since
      HAVING count(*) >= (SELECT slots FROM share)) AS t), least(${END}, :to)) AS at
    FROM next AS n)`;
}

/**
 * SQL for the number of slots to read from each program and time range: `:wanted` divided by the number of programs.
 * Not used in a search for one practitioner, because a practitioner rarely works in several programs.
 */
const SHARE = "(SELECT ceil(:wanted::bigint / greatest(count(*), 1)::float8)::bigint FROM offered)";

/**
 * SQL for the exclusive end of the time range that a statement reads: `:stretch` seconds after the first free slot `n`.
 */
const END = "n.starts_at + make_interval(secs => :stretch::float8)";

/**
 * SQL condition that selects the slots of one practitioner. The last two conditions are true for every free slot.
 * PostgreSQL uses the partial index by practitioner only if the query has these two conditions.
 */
const OF_PRACTITIONER = "AND s.practitioner_id = :practitionerId AND NOT s.retained AND s.rule_id IS NOT NULL";

const AFTER = `(:afterId::uuid IS NULL OR (s.starts_at, uuid_hash_extended(s.id, :seed), s.id)
        > (:afterStart::timestamptz, uuid_hash_extended(:afterId::uuid, :seed), :afterId::uuid))`;

/**
 * SQL condition that excludes slots on days without capacity left. It does not exclude the day on which the appointment
 * to move already uses a unit of capacity. The subquery does not depend on the slot, so PostgreSQL reads the full days
 * once into a hash table. This costs less than a check for each slot: there are few full days and many slots.
 */
const DAY_NOT_FULL = `(s.rule_id, s.local_date) NOT IN (
          SELECT c.rule_id, c.local_date FROM day_counters c
          JOIN program_rules r ON r.tenant_id = :tenantId AND r.id = c.rule_id
            AND c.booked + ${liveHolds("c.held", ":now::timestamptz")} >= r.daily_capacity
          WHERE c.tenant_id = :tenantId
            AND c.local_date >= (SELECT (n.starts_at AT TIME ZONE 'America/Bogota')::date FROM next AS n)
            AND c.local_date <= (SELECT (least(${END}, :to) AT TIME ZONE 'America/Bogota')::date FROM next AS n)
            AND (c.rule_id, c.local_date) IS DISTINCT FROM (:heldRuleId::uuid, :heldDate::date))`;

/** SQL for the time range of a search that is not limited to parts of the day. */
const WHOLE_TIME = "SELECT :from::timestamptz AS since, :to::timestamptz AS until";

/** SQL for the time ranges of a search in parts of the day: one for each local date and part. */
const PARTS_OF_DAYS = `SELECT greatest(at.since, :from::timestamptz) AS since, least(at.until, :to::timestamptz) AS until
    FROM unnest(:starts::integer[], :ends::integer[]) AS w (start_second, end_second)
    CROSS JOIN generate_series(date_trunc('day', :from::timestamptz AT TIME ZONE 'America/Bogota'),
      :to::timestamptz AT TIME ZONE 'America/Bogota', interval '1 day') AS date
    CROSS JOIN LATERAL (SELECT (date + make_interval(secs => w.start_second)) AT TIME ZONE 'America/Bogota' AS since,
      (date + make_interval(secs => w.end_second)) AT TIME ZONE 'America/Bogota' AS until) AS at
    WHERE at.since < :to::timestamptz AND at.until > :from::timestamptz AND EXISTS (SELECT FROM offered)`;

/**
 * SQL for whether a program `p` has an active rule whose hours overlap a searched part of the day, or end when it
 * begins. Slots lie within the hours of their rules, so other programs need no search.
 */
export const HAS_RULE_THEN = `EXISTS (
    SELECT FROM program_rules t JOIN unnest(:starts::integer[], :ends::integer[]) AS w (start_second, end_second)
      ON extract(epoch FROM t.starts_at_local) < w.end_second AND extract(epoch FROM t.ends_at_local) >= w.start_second
    WHERE t.tenant_id = :tenantId AND t.program_id = p.id AND t.active)`;

import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { secondsPerDay } from "../../../scheduling/local-time.js";
import { liveHolds } from "../../held-until.js";
import { sql } from "../../sql.js";
import { windowOf, withSettings } from "../schedule/booking-windows.js";
import type { DayOfRule } from "./day-counters.js";
import { offeringPrograms } from "./offers.js";

/** The conditions of a search for free slots. */
export interface OptionQuery {
  /** The patient who must be free at the time; undefined for any patient. */
  readonly patientId: string | undefined;
  /** The patient's appointment that is to be moved. Its own time does not count as busy. */
  readonly appointmentId: string | undefined;
  /** The day on which that appointment already uses a unit of capacity. */
  readonly heldDay: DayOfRule | undefined;
  /** The current time. Holds that end later are live. */
  readonly now: Date;
  readonly serviceId: string;
  /** The duration in minutes, which may need several slots; undefined for one slot of any length. */
  readonly minutes: number | undefined;
  /** Slots start at `from` or later and before `to`. */
  readonly from: Date;
  readonly to: Date;
  /** Parts of the local day in which slots start, in seconds of the day; `endSecond` is exclusive. */
  readonly windows: readonly { readonly startSecond: number; readonly endSecond: number }[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
  /** Start and id of the last slot of the previous page; undefined for the first page. */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/**
 * Returns a query for the start of the next free slot, as `starts_at`. It ignores whether practitioner and patient are
 * busy. It has no row if no free slot is left. It finds the programs once, for each part of the day. Then it looks up
 * each of them in one time range after the other, and stops at the first range with a slot.
 */
export function nextStart(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const firstOfEach = sql({ s: "slots" })
    .where({ "s.tenant_id": transaction.tenantId })
    .whereRaw("s.program_id = p.id AND s.appointment_id IS NULL")
    .whereRaw("s.starts_at >= r.since AND s.starts_at < r.until")
    .whereRaw("s.starts_at >= p.opens AND s.starts_at < p.closes")
    .whereRaw(DAY_NOT_FULL, fullDaysOf(transaction, query))
    .orderBy("s.starts_at")
    .limit(1)
    .select("s.starts_at");
  ofPractitioner(firstOfEach, query);
  const first = sql(sql.raw("unnest(r.programs, r.opens, r.closes) AS p (id, opens, closes)"))
    .joinRaw("CROSS JOIN LATERAL (:slots) AS s", { slots: firstOfEach })
    .min({ starts_at: "s.starts_at" });
  return sql(sql.raw("(?) AS r", [rangesOf(transaction, principal, query)]))
    .joinRaw("CROSS JOIN LATERAL (:first) AS f", { first })
    .whereRaw("f.starts_at IS NOT NULL")
    .orderBy("r.since")
    .limit(1)
    .select({ starts_at: "f.starts_at" });
}

/**
 * Returns a query for the free slots of a stretch of time, ordered by start, then by `spread` and id. The stretch begins at the `starts_at` of
 * {@link nextStart}, which the same statement must contain as the CTE `next`.
 */
export function freeSlots(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
  stretchMs: number,
): Knex.QueryBuilder {
  const { tenantId } = transaction;
  const { opens, closes } = windowOf(query.now);
  const slots = wantedPrograms(transaction, principal, query)
    .joinRaw("JOIN slots s ON s.tenant_id = ? AND s.program_id = p.id AND s.appointment_id IS NULL", [tenantId])
    .whereRaw(IN_STRETCH, [stretchMs, query.to])
    .where("s.starts_at", ">=", opens)
    .where("s.starts_at", "<", closes)
    .whereRaw(DAY_NOT_FULL, fullDaysOf(transaction, query))
    .where((builder) => inWindows(builder, query.windows))
    .select("s.id", "s.generation", "s.program_id", "s.practitioner_id", "s.starts_at", "s.ends_at")
    .select("s.rule_id", "p.location_id", "p.emergency")
    .select(sql.raw("uuid_hash_extended(s.id, ?) AS spread", [seedOf(query)]))
    .orderBy(["s.starts_at", "spread", "s.id"]);
  ofPractitioner(slots, query);
  if (query.after !== undefined) slots.whereRaw(AFTER, afterOf(query, query.after));
  return slots;
}

const AFTER = `(s.starts_at, uuid_hash_extended(s.id, ?), s.id) > (?, uuid_hash_extended(?::uuid, ?), ?)`;

function afterOf(query: OptionQuery, { startsAt, id }: { readonly startsAt: Date; readonly id: string }) {
  const seed = seedOf(query);
  return [seed, startsAt, id, seed, id];
}

/**
 * Returns the seed of the order of slots that begin together. It depends on the appointment or patient of the search, so
 * that callers who search at the same time are not all offered the same slot first.
 */
export function seedOf({ appointmentId, patientId }: Pick<OptionQuery, "appointmentId" | "patientId">): string {
  const subject = appointmentId ?? patientId;
  return subject === undefined ? "0" : BigInt.asIntN(64, BigInt(`0x${subject.replaceAll("-", "")}`)).toString();
}

/**
 * Adds the condition on the practitioner. Every free slot is a slot of the rules, but the index by practitioner is
 * partial and is used only if the condition says so.
 */
function ofPractitioner(slots: Knex.QueryBuilder, { practitionerId }: OptionQuery): void {
  if (practitionerId !== undefined) slots.where({ "s.practitioner_id": practitionerId }).whereRaw(OF_RULES);
}

/** Returns a query for the programs that match the search and offer the service to the principal. */
function wantedPrograms(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const programs = withSettings(offeringPrograms(transaction, principal, query.serviceId), transaction.tenantId);
  if (!query.includeEmergency) programs.where({ "p.emergency": false });
  if (query.locationId !== undefined) programs.where({ "p.location_id": query.locationId });
  return programs;
}

const IN_STRETCH = `s.starts_at >= (SELECT starts_at FROM next)
  AND s.starts_at < least((SELECT starts_at FROM next) + make_interval(secs => ?::float8 / 1000), ?)`;
const OF_RULES = "NOT s.retained AND s.rule_id IS NOT NULL";

function isWholeDay({ windows: [window] }: OptionQuery): boolean {
  return window?.startSecond === 0 && window.endSecond === secondsPerDay;
}

/** The one range for a search at any time of the day. */
const WHOLE_TIME = "SELECT ?::timestamptz AS since, ?::timestamptz AS until, w.* FROM (?) AS w";

/** The programs as three arrays: their ids, and when their slots can be booked. */
const TOGETHER = "array_agg(f.id) AS programs, array_agg(f.opens) AS opens, array_agg(f.closes) AS closes";

/** Leaves out programs whose rules have no slots in that part of the day: slots lie within the times of their rules. */
const HAS_RULE_THEN = `EXISTS (SELECT FROM program_rules t WHERE t.tenant_id = ? AND t.program_id = p.id AND t.active
  AND extract(epoch FROM t.starts_at_local) < w.end_second AND extract(epoch FROM t.ends_at_local) >= w.start_second)`;

/**
 * The time ranges of the search, in order: one for each local date and part of the day in which a program has a rule.
 * Each has its programs. They are found once for each part of the day, not for each date.
 */
const RANGES = `WITH w AS MATERIALIZED (SELECT w.start_second, w.end_second, g.*
    FROM unnest(?::integer[], ?::integer[]) AS w (start_second, end_second) CROSS JOIN LATERAL (?) AS g)
  SELECT greatest(at.since, ?::timestamptz) AS since, least(at.until, ?::timestamptz) AS until,
    w.programs, w.opens, w.closes
  FROM w CROSS JOIN generate_series(date_trunc('day', ?::timestamptz AT TIME ZONE 'America/Bogota'),
    ?::timestamptz AT TIME ZONE 'America/Bogota', interval '1 day') AS date
  CROSS JOIN LATERAL (SELECT (date + make_interval(secs => w.start_second)) AT TIME ZONE 'America/Bogota' AS since,
    (date + make_interval(secs => w.end_second)) AT TIME ZONE 'America/Bogota' AS until) AS at
  WHERE w.programs IS NOT NULL
  ORDER BY 1 OFFSET 0`;

function rangesOf(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.Raw {
  const { from, to, windows } = query;
  const programs = wantedPrograms(transaction, principal, query).select({ id: "p.id", ...windowOf(query.now) });
  const together = (found: Knex.QueryBuilder) => sql(found.as("f")).select(sql.raw(TOGETHER));
  if (isWholeDay(query)) return sql.raw(WHOLE_TIME, [from, to, together(programs)]);
  const starts = windows.map(({ startSecond }) => startSecond);
  const ends = windows.map(({ endSecond }) => endSecond);
  const then = together(programs.whereRaw(HAS_RULE_THEN, [transaction.tenantId]));
  return sql.raw(RANGES, [starts, ends, then, from, to, from, to]);
}

function fullDaysOf({ tenantId }: Transaction, { from, to, heldDay, now }: OptionQuery) {
  return [tenantId, now, tenantId, from, to, heldDay?.ruleId ?? null, heldDay?.localDate ?? null];
}

/**
 * Excludes slots on days without capacity left. The subquery is a list that is hashed once: there are few full days and
 * many slots.
 */
const DAY_NOT_FULL = `(s.rule_id, s.local_date) NOT IN (
  SELECT c.rule_id, c.local_date FROM day_counters c
  JOIN program_rules r ON r.tenant_id = ? AND r.id = c.rule_id
    AND c.booked + ${liveHolds("c.held", "?::timestamptz")} >= r.daily_capacity
  WHERE c.tenant_id = ? AND c.local_date BETWEEN (?::timestamptz AT TIME ZONE 'America/Bogota')::date
    AND (?::timestamptz AT TIME ZONE 'America/Bogota')::date AND (c.rule_id, c.local_date) IS DISTINCT FROM (?::uuid, ?::date))`;
const LOCAL_SECOND = "extract(epoch FROM (s.starts_at AT TIME ZONE 'America/Bogota')::time)";

function inWindows(builder: Knex.QueryBuilder, windows: readonly { startSecond: number; endSecond: number }[]): void {
  for (const { startSecond, endSecond } of windows) {
    builder.orWhereRaw(`(${LOCAL_SECOND} >= ? AND ${LOCAL_SECOND} < ?)`, [startSecond, endSecond]);
  }
}

import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { type ColumnsOf, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { busyTime } from "./busy-times.js";
import type { DayOfRule } from "./day-counters.js";
import { type Offer, offeringPrograms } from "./offers.js";
import { runsFrom } from "./slot-runs.js";

/** What kind of slot is looked for. */
export interface OptionQuery {
  /** Whose time a slot must not take; undefined for nobody's. */
  readonly patientId: string | undefined;
  /** An appointment of the patient's that is to be moved, so that it does not stand in its own way. */
  readonly appointmentId: string | undefined;
  /** The day on which that appointment holds a unit of capacity already. */
  readonly heldDay: DayOfRule | undefined;
  readonly serviceId: string;
  /** How long the appointment takes, where that may be more than one slot; undefined for one slot, however long. */
  readonly minutes: number | undefined;
  /** Instants between which slots start, the second exclusive. */
  readonly from: Date;
  readonly to: Date;
  /** Stretches of the local day, in seconds of it, in which slots start. */
  readonly windows: readonly { readonly startSecond: number; readonly endSecond: number }[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
  /** The start and the id of the last slot of the page before. */
  readonly after: { readonly startsAt: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/** A slot that can be booked, or several, one behind the other, from the first one's start to the last one's end. */
export interface OptionRecord extends Offer {
  readonly slotId: string;
  /** The latest of theirs. */
  readonly generation: number;
  readonly programId: string;
  readonly practitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const OPTION_COLUMNS = {
  slotId: "s.id",
  generation: "s.generation",
  programId: "s.program_id",
  locationId: "s.location_id",
  emergency: "s.emergency",
  practitionerId: "s.practitioner_id",
  startsAt: "s.starts_at",
  endsAt: "s.ends_at",
} as const satisfies ColumnsOf<OptionRecord>;

/** Planning takes longer than searching, and no plan depends on the values; but Citus plans nothing without them. */
const PLAN_ONCE = `SELECT set_config('plan_cache_mode',
  CASE WHEN current_setting('citus.version', true) IS NULL THEN 'force_generic_plan' ELSE 'auto' END, true)`;
const FIRST_STRETCH_MS = 1_800_000;

/**
 * The soonest slots that can really be booked: free, with capacity left on their day, in programs where the service can be
 * had, with an active practitioner, and in the way of no other appointment of the practitioner or the patient.
 *
 * Goes from the next free slot over a stretch of time, and on from there with longer ones until the page is full: the cost
 * grows with what is asked for, and not with the schedule or with how far away its free slots are.
 */
export async function searchOptions(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<OptionRecord[]> {
  transaction.send(sql.raw(PLAN_ONCE));
  const found: OptionRecord[] = [];
  let from = new Date(Math.max(query.from.getTime(), query.after?.startsAt.getTime() ?? 0));
  for (let stretchMs = FIRST_STRETCH_MS; ; ) {
    const next = await findNextStart(transaction, principal, { ...query, from });
    if (next === undefined) return found;
    const to = new Date(Math.min(next.getTime() + stretchMs, query.to.getTime()));
    const stretch = { from: next, to, limit: query.limit - found.length };
    const more = await searchStretch(transaction, principal, { ...query, ...stretch });
    found.push(...more);
    if (found.length >= query.limit) return found;
    from = to;
    stretchMs *= growth(query.limit - found.length, more.length);
  }
}

/** How much longer the next stretch should be, for so many more options where this one had so many. */
function growth(missing: number, found: number): number {
  return Math.min(64, Math.max(4, (2.5 * missing) / Math.max(found, 1)));
}

/** When the next free slot begins, whoever may be busy then: a look into each program for each range, until one has one. */
async function findNextStart(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<Date | undefined> {
  const firstOfEach = sql({ s: "slots" })
    .where({ "s.tenant_id": transaction.tenantId })
    .whereRaw("s.program_id = p.id AND s.appointment_id IS NULL")
    .whereRaw("s.starts_at >= r.since AND s.starts_at < r.until")
    .whereRaw(DAY_NOT_FULL, fullDaysOf(transaction, query))
    .orderBy("s.starts_at")
    .limit(1)
    .select("s.starts_at");
  ofPractitioner(firstOfEach, query);
  const first = wantedPrograms(transaction, principal, query)
    .joinRaw("CROSS JOIN LATERAL (:slots) AS s", { slots: firstOfEach })
    .min({ starts_at: "s.starts_at" });
  const next = sql(sql.raw(`(${RANGES}) AS r`, rangesOf(query)))
    .joinRaw("CROSS JOIN LATERAL (:first) AS f", { first })
    .whereRaw("f.starts_at IS NOT NULL")
    .orderBy("r.since")
    .limit(1)
    .select({ startsAt: "f.starts_at" });
  return (await transaction.rows<{ startsAt: Date }>(next))[0]?.startsAt;
}

/** Sorts the free slots of the stretch and judges them in their order only until there are enough: OFFSET parts the two. */
function searchStretch(transaction: Transaction, principal: Principal, query: OptionQuery): Promise<OptionRecord[]> {
  const { tenantId } = transaction;
  const exceptId = query.appointmentId ?? null;
  const slots = sql(sql.raw("(? OFFSET 0) AS s", [freeSlots(transaction, principal, query)]));
  const candidates =
    query.minutes === undefined ? slots : sql(sql.raw("(? OFFSET 0) AS s", [runsFrom(tenantId, slots, query.minutes)]));
  const options = candidates
    .select(OPTION_COLUMNS)
    .whereRaw(IS_PRACTITIONER_ACTIVE, [tenantId])
    .whereRaw(isPersonFree("practitioner_id", "s.practitioner_id"), [tenantId, exceptId])
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }])
    .limit(query.limit);
  if (query.patientId !== undefined)
    options.whereRaw(isPersonFree("patient_id", "?::uuid"), [tenantId, query.patientId, exceptId]);
  return readRecords(transaction, options);
}

/** The free slots in the order in which they begin. */
function freeSlots(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const { tenantId } = transaction;
  const slots = wantedPrograms(transaction, principal, query)
    .joinRaw("JOIN slots s ON s.tenant_id = ? AND s.program_id = p.id AND s.appointment_id IS NULL", [tenantId])
    .whereRaw("s.starts_at >= ? AND s.starts_at < ?", [query.from, query.to])
    .whereRaw(DAY_NOT_FULL, fullDaysOf(transaction, query))
    .where((builder) => inWindows(builder, query.windows))
    .select("s.id", "s.generation", "s.program_id", "s.practitioner_id", "s.starts_at", "s.ends_at")
    .select("s.rule_id", "p.location_id", "p.emergency")
    .orderBy([{ column: "s.starts_at" }, { column: "s.id" }]);
  ofPractitioner(slots, query);
  if (query.after !== undefined) slots.whereRaw("(s.starts_at, s.id) > (?, ?)", [query.after.startsAt, query.after.id]);
  return slots;
}

/** That no free slot is retained or without a rule goes without saying, but not for the index by practitioner. */
function ofPractitioner(slots: Knex.QueryBuilder, { practitionerId }: OptionQuery): void {
  if (practitionerId !== undefined) slots.where({ "s.practitioner_id": practitionerId }).whereRaw(OF_RULES);
}

/** The programs in which the service can be had, where it is wanted. */
function wantedPrograms(transaction: Transaction, principal: Principal, query: OptionQuery): Knex.QueryBuilder {
  const programs = offeringPrograms(transaction, principal, query.serviceId);
  if (!query.includeEmergency) programs.where({ "p.emergency": false });
  if (query.locationId !== undefined) programs.where({ "p.location_id": query.locationId });
  return programs;
}

const OF_RULES = "NOT s.retained AND s.rule_id IS NOT NULL";

/** The stretches of time in which slots are wanted, in their order. */
const RANGES = `SELECT greatest(at.since, ?::timestamptz) AS since, least(at.until, ?::timestamptz) AS until
  FROM generate_series(date_trunc('day', ?::timestamptz AT TIME ZONE 'America/Bogota'),
    ?::timestamptz AT TIME ZONE 'America/Bogota', interval '1 day') AS date
  CROSS JOIN unnest(?::integer[], ?::integer[]) AS w (start_second, end_second)
  CROSS JOIN LATERAL (SELECT (date + make_interval(secs => w.start_second)) AT TIME ZONE 'America/Bogota' AS since,
    (date + make_interval(secs => w.end_second)) AT TIME ZONE 'America/Bogota' AS until) AS at
  ORDER BY 1 OFFSET 0`;

function rangesOf({ from, to, windows }: OptionQuery) {
  const starts = windows.map(({ startSecond }) => startSecond);
  return [from, to, from, to, starts, windows.map(({ endSecond }) => endSecond)];
}

function fullDaysOf({ tenantId }: Transaction, { from, to, heldDay }: OptionQuery) {
  return [tenantId, tenantId, from, to, heldDay?.ruleId ?? null, heldDay?.localDate ?? null];
}

/** A list that is hashed once: there are few full days, and many slots on them. */
const DAY_NOT_FULL = `(s.rule_id, s.local_date) NOT IN (
  SELECT c.rule_id, c.local_date FROM day_counters c
  JOIN program_rules r ON r.tenant_id = ? AND r.id = c.rule_id AND c.booked >= r.daily_capacity
  WHERE c.tenant_id = ? AND c.local_date BETWEEN (?::timestamptz AT TIME ZONE 'America/Bogota')::date
    AND (?::timestamptz AT TIME ZONE 'America/Bogota')::date AND (c.rule_id, c.local_date) IS DISTINCT FROM (?::uuid, ?::date))`;
const IS_PRACTITIONER_ACTIVE =
  "(SELECT d.active FROM practitioners d WHERE d.tenant_id = ? AND d.id = s.practitioner_id)";
const LOCAL_SECOND = "extract(epoch FROM (s.starts_at AT TIME ZONE 'America/Bogota')::time)";

/** One look into the index of a person's appointments for each slot; as NOT EXISTS it might be one join of everything. */
function isPersonFree(person: "patient_id" | "practitioner_id", personId: string): string {
  const slot = { tenantId: "?", startsAt: "s.starts_at", endsAt: "s.ends_at", exceptId: "?::uuid" };
  return `(${busyTime(person, { ...slot, personId })}) IS NULL`;
}

function inWindows(builder: Knex.QueryBuilder, windows: readonly { startSecond: number; endSecond: number }[]): void {
  for (const { startSecond, endSecond } of windows) {
    builder.orWhereRaw(`(${LOCAL_SECOND} >= ? AND ${LOCAL_SECOND} < ?)`, [startSecond, endSecond]);
  }
}

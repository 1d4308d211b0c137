import type { Transaction } from "../../../call.js";
import { liveHolds, withHold, withoutHold } from "../../held-until.js";
import { prepared, preparedRequired } from "../../prepared.js";
import { sql } from "../../sql.js";

/**
 * A rule and a local date (YYYY-MM-DD). The daily capacity of the rule limits how many appointments and holds the rule
 * has on the date.
 */
export interface DayOfRule {
  readonly ruleId: string;
  readonly localDate: string;
}

/**
 * Returns the rule and date whose capacity an appointment or slot uses. Returns undefined if `placed` is undefined or
 * has no rule. An overbooked appointment has no rule and uses no capacity.
 */
export function countedDay(
  placed: { readonly ruleId: string | undefined; readonly localDate: string } | undefined,
): DayOfRule | undefined {
  if (placed?.ruleId === undefined) return undefined;
  return { ruleId: placed.ruleId, localDate: placed.localDate };
}

const KEY = ["tenant_id", "rule_id", "local_date"] as const;

const addCounter = prepared(KEY, (day) =>
  sql("day_counters")
    .insert({ ...day, booked: 0 })
    .onConflict()
    .ignore(),
);

const OF_DAY = "c.tenant_id = :tenant_id AND c.rule_id = :rule_id AND c.local_date = :local_date";
const OF_RULE = "r.tenant_id = :tenant_id AND r.id = :rule_id";

/**
 * SQL for whether a rule `r` has capacity left on the date of its counter `c`. Each appointment in `booked` and each
 * live hold in `held` uses one unit.
 */
const HAS_UNIT = `c.booked + ${liveHolds("c.held", ":now::timestamptz")} < r.daily_capacity`;

const TAKE_UNIT = `UPDATE day_counters c SET booked = c.booked + 1 FROM program_rules r
  WHERE ${OF_DAY} AND ${OF_RULE} AND ${HAS_UNIT} RETURNING c.booked`;

const takeUnit = prepared([...KEY, "now"], (names) => sql.raw(TAKE_UNIT, names));

const requireUnit = preparedRequired([...KEY, "now"], (names) => sql.raw(TAKE_UNIT, names));

const holdUnit = preparedRequired([...KEY, "now", "until"], (names) =>
  sql.raw(
    `UPDATE day_counters c SET held = ${withHold("c.held")} FROM program_rules r
     WHERE ${OF_DAY} AND ${OF_RULE} AND ${HAS_UNIT} RETURNING c.booked`,
    names,
  ),
);

const bookUnit = preparedRequired([...KEY, "now", "until"], (names) =>
  sql.raw(
    `UPDATE day_counters c SET booked = c.booked + 1, held = ${withoutHold("c.held")} FROM program_rules r
     WHERE ${OF_DAY} AND ${OF_RULE} AND (:until::timestamptz = ANY (c.held) OR ${HAS_UNIT}) RETURNING c.booked`,
    names,
  ),
);

const dropUnit = prepared([...KEY, "until"], (names) =>
  sql.raw(`UPDATE day_counters c SET held = ${withoutHold("c.held")} WHERE ${OF_DAY}`, names),
);

const giveUnit = prepared(KEY, (day) => sql("day_counters").where(day).decrement("booked"));

/**
 * Takes one unit of a rule's capacity on a date. Returns false if none is left. If it returns true, the counter is
 * locked until the transaction ends. So only one of two concurrent calls gets the last unit.
 *
 * Sends two statements in one round trip: the first inserts the counter if it is missing, the second takes the unit. A
 * single upsert is not possible: its WHERE would need a subquery for the capacity, which Citus rejects.
 */
export function takeCapacity(transaction: Transaction, day: DayOfRule, nowMs: number): Promise<boolean> {
  transaction.send(addCounter(keyOf(transaction, day)));
  return takeLockedCapacity(transaction, day, nowMs);
}

/**
 * Takes one unit of a rule's capacity on a date, without waiting for the result. If no unit is left, the transaction
 * fails with the error that `refusal` returns.
 */
export function requireCapacity(transaction: Transaction, day: DayOfRule, nowMs: number, refusal: () => unknown): void {
  transaction.send(addCounter(keyOf(transaction, day)));
  transaction.require(requireUnit({ ...keyOf(transaction, day), now: new Date(nowMs) }), refusal);
}

/**
 * Takes one unit of a rule's capacity on a date for a hold that expires at `until`, without waiting for the result. If
 * no unit is left, the transaction fails with the error that `refusal` returns. Removes expired holds from the counter.
 */
export function holdCapacity(
  transaction: Transaction,
  day: DayOfRule,
  { nowMs, until }: { readonly nowMs: number; readonly until: Date },
  refusal: () => unknown,
): void {
  transaction.send(addCounter(keyOf(transaction, day)));
  transaction.require(holdUnit({ ...keyOf(transaction, day), now: new Date(nowMs), until }), refusal);
}

/**
 * Changes the unit of capacity of a hold that expires at `until` into a unit of an appointment. If another transaction
 * has already removed the expired hold from the counter, takes a free unit instead. If none is free, the transaction
 * fails with the error that `refusal` returns.
 */
export function bookHeldCapacity(
  transaction: Transaction,
  day: DayOfRule,
  { nowMs, until }: { readonly nowMs: number; readonly until: Date },
  refusal: () => unknown,
): void {
  transaction.require(bookUnit({ ...keyOf(transaction, day), now: new Date(nowMs), until }), refusal);
}

/**
 * Frees the unit of the day's capacity that a hold with the expiry `until` uses. Changes nothing if the counter has no
 * such hold.
 */
export function dropHeldCapacity(transaction: Transaction, day: DayOfRule, until: Date): void {
  transaction.send(dropUnit({ ...keyOf(transaction, day), until }));
}

/** Takes one unit of a rule's capacity on a date that {@link lockDays} has locked. Returns false if none is left. */
export async function takeLockedCapacity(transaction: Transaction, day: DayOfRule, nowMs: number): Promise<boolean> {
  const unit = takeUnit({ ...keyOf(transaction, day), now: new Date(nowMs) });
  return (await transaction.rows(unit)).length === 1;
}

/** Frees the unit of the day's capacity that an appointment uses. For a hold, use {@link dropHeldCapacity}. */
export function giveCapacityBack(transaction: Transaction, day: DayOfRule): void {
  transaction.send(giveUnit(keyOf(transaction, day)));
}

/**
 * Locks the counters of these days, ordered by rule and date, until the transaction ends. Inserts missing counters. One
 * statement does both. If missing counters were inserted first, they would be locked before earlier days.
 */
export function lockDays(transaction: Transaction, days: readonly DayOfRule[]): void {
  const unique = new Map(days.map((day) => [`${day.ruleId} ${day.localDate}`, day]));
  const ordered = [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
  if (ordered.length === 0) return;
  const { tenantId: tenant_id } = transaction;
  const rows = ordered.map((day) => ({ tenant_id, rule_id: day.ruleId, local_date: day.localDate, booked: 0 }));
  const insert = sql("day_counters")
    .insert(rows)
    .onConflict([...KEY]);
  transaction.send(insert.merge({ booked: sql.raw("day_counters.booked") }).whereRaw("false"));
}

function keyOf({ tenantId }: Transaction, { ruleId, localDate }: DayOfRule) {
  return { tenant_id: tenantId, rule_id: ruleId, local_date: localDate };
}

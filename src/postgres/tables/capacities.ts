import type { Transaction } from "../../call.js";
import {
  bookHeldCapacity,
  type DayOfRule,
  dropHeldCapacity,
  giveCapacityBack,
  holdCapacity,
  lockDays,
  requireCapacity,
  takeCapacity,
  takeLockedCapacity,
} from "./appointments/day-counters.js";

/** The terms of {@link exchangeCapacity}: the current time, and the expiry of the hold that becomes the appointment. */
export interface CapacityTerms {
  readonly nowMs: number;
  /**
   * When the hold that becomes the appointment expires. Undefined if there is no such hold, or if the hold uses no
   * capacity of the day `wanted`.
   */
  readonly heldUntil?: Date | undefined;
}

/**
 * Gives an appointment a unit of the capacity of the day `wanted`. A unit is the capacity for one appointment or hold.
 * - If `wanted` and `old` are the same day of the same rule, the appointment keeps its unit. If the appointment comes
 *   from a hold (`terms.heldUntil`), the hold's unit is freed.
 * - Otherwise, the appointment gets the hold's unit if it comes from a hold, or else a free unit. If the hold has
 *   expired and its unit was removed, the appointment gets a free unit. A unit of the day `old` is freed if `old` is
 *   defined.
 *
 * Does not wait for the result. If no unit is left, the RPC fails later with the error that `refusal` returns.
 *
 * Call this after all other locks. Only the counters of holds per principal and the freed slots are locked later; see
 * `locks.ts`.
 */
export function exchangeCapacity(
  transaction: Transaction,
  wanted: DayOfRule,
  old: DayOfRule | undefined,
  terms: CapacityTerms,
  refusal: () => unknown,
): void {
  const { nowMs, heldUntil: until } = terms;
  const take = () => {
    if (until === undefined) requireCapacity(transaction, wanted, nowMs, refusal);
    else bookHeldCapacity(transaction, wanted, { nowMs, until }, refusal);
  };
  if (old === undefined) {
    take();
    return;
  }
  const [oldKey, wantedKey] = [dayKey(old), dayKey(wanted)];
  if (oldKey < wantedKey) giveCapacityBack(transaction, old);
  if (oldKey !== wantedKey) take();
  else if (until !== undefined) dropHeldCapacity(transaction, wanted, until);
  if (oldKey > wantedKey) giveCapacityBack(transaction, old);
}

/**
 * Takes a unit of the capacity of a day for a hold that expires at `until`. Does not wait for the result. If no unit is
 * left, the RPC fails later with the error that `refusal` returns.
 */
export function holdUnit(
  transaction: Transaction,
  wanted: DayOfRule,
  terms: { readonly nowMs: number; readonly until: Date },
  refusal: () => unknown,
): void {
  holdCapacity(transaction, wanted, terms, refusal);
}

/** Takes a unit of the capacity of a day for an appointment. Returns false if none is left. */
export function tryCapacity(transaction: Transaction, wanted: DayOfRule, nowMs: number): Promise<boolean> {
  return takeCapacity(transaction, wanted, nowMs);
}

/**
 * Locks the counters of `days` for {@link exchangeLockedCapacity}, ordered by rule and date, until the transaction
 * ends. Inserts missing counters.
 */
export function lockCapacities(transaction: Transaction, days: readonly DayOfRule[]): void {
  lockDays(transaction, days);
}

/**
 * Takes a unit of the capacity of the day `wanted` and frees a unit of the day `old`, if `old` is defined. Both days
 * must be locked with {@link lockCapacities}. Returns false and changes nothing if no unit of `wanted` is left. If both
 * are the same day of the same rule, the call changes nothing and returns true, because the appointment keeps its unit.
 */
export async function exchangeLockedCapacity(
  transaction: Transaction,
  wanted: DayOfRule,
  old: DayOfRule | undefined,
  nowMs: number,
): Promise<boolean> {
  if (old !== undefined && dayKey(old) === dayKey(wanted)) return true;
  if (!(await takeLockedCapacity(transaction, wanted, nowMs))) return false;
  if (old !== undefined) giveCapacityBack(transaction, old);
  return true;
}

/**
 * The days of one exchange of {@link exchangeCapacities}, which takes a unit of `wanted` and frees a unit of `old`. If
 * `wanted` is undefined, no unit is taken. If `old` is undefined, no unit is freed.
 */
export interface ExchangedDays {
  readonly wanted: DayOfRule | undefined;
  readonly old: DayOfRule | undefined;
}

/**
 * Locks the counters of all days. Then frees a unit of each `old`, and takes a unit of each `wanted` in the order of
 * `exchanges`. Skips exchanges in which both days are the same day of the same rule. Returns one result for each
 * exchange: false if no unit was left, otherwise true. If any result is false, the caller must not commit.
 */
export async function exchangeCapacities(
  transaction: Transaction,
  exchanges: readonly ExchangedDays[],
  nowMs: number,
): Promise<readonly boolean[]> {
  const days = exchanges.flatMap(({ wanted, old }) => [wanted, old]).filter((day) => day !== undefined);
  lockDays(transaction, days);
  const changes = exchanges.map((each) => (isSameDay(each.wanted, each.old) ? undefined : each));
  for (const change of changes) if (change?.old !== undefined) giveCapacityBack(transaction, change.old);
  return Promise.all(
    changes.map(
      async (change) => change?.wanted === undefined || takeLockedCapacity(transaction, change.wanted, nowMs),
    ),
  );
}

/** Returns whether two days are the same day of the same rule. Returns false if either is undefined. */
export function isSameDay(one: DayOfRule | undefined, other: DayOfRule | undefined): boolean {
  return one !== undefined && other !== undefined && dayKey(one) === dayKey(other);
}

function dayKey({ ruleId, localDate }: DayOfRule): string {
  return `${ruleId} ${localDate}`;
}

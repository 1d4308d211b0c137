import type { Transaction } from "../../call.js";
import {
  type DayOfRule,
  giveCapacityBack,
  lockDays,
  requireCapacity,
  takeCapacity,
  takeLockedCapacity,
} from "./appointments/day-counters.js";

/**
 * Takes a unit of capacity of the day `wanted` and returns one of the day `old`, if given. Does nothing if both are the
 * same day. The call fails with `refusal` if no unit is left. The result is not awaited.
 *
 * Counters come last in the lock order of `locks.ts`.
 */
export function exchangeCapacity(
  transaction: Transaction,
  wanted: DayOfRule,
  old: DayOfRule | undefined,
  refusal: () => unknown,
): void {
  if (old === undefined) {
    requireCapacity(transaction, wanted, refusal);
    return;
  }
  const [oldKey, wantedKey] = [dayKey(old), dayKey(wanted)];
  if (oldKey < wantedKey) giveCapacityBack(transaction, old);
  if (oldKey !== wantedKey) requireCapacity(transaction, wanted, refusal);
  if (oldKey > wantedKey) giveCapacityBack(transaction, old);
}

/** Takes a unit of the capacity of a day. Returns false if none is left. */
export function tryCapacity(transaction: Transaction, wanted: DayOfRule): Promise<boolean> {
  return takeCapacity(transaction, wanted);
}

/**
 * Locks the counters of the days that {@link exchangeLockedCapacity} will change. Counters come last in the lock order.
 */
export function lockCapacities(transaction: Transaction, days: readonly DayOfRule[]): void {
  lockDays(transaction, days);
}

/** Like {@link exchangeCapacity}, for locked days. If no unit is left, it changes nothing and returns false. */
export async function exchangeLockedCapacity(
  transaction: Transaction,
  wanted: DayOfRule,
  old: DayOfRule | undefined,
): Promise<boolean> {
  if (old !== undefined && dayKey(old) === dayKey(wanted)) return true;
  if (!(await takeLockedCapacity(transaction, wanted))) return false;
  if (old !== undefined) giveCapacityBack(transaction, old);
  return true;
}

function dayKey({ ruleId, localDate }: DayOfRule): string {
  return `${ruleId} ${localDate}`;
}

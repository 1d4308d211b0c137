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
 * Takes a unit of the capacity of one day and gives that of another back, if there is one: the last of what
 * `locks.ts` orders. Within one day neither is needed. Nothing is waited for: the call fails with `refusal` where no unit is left.
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

/** Takes a unit of the capacity of a day, as {@link exchangeCapacity} does, for whoever can do without: false where none is left. */
export function tryCapacity(transaction: Transaction, wanted: DayOfRule): Promise<boolean> {
  return takeCapacity(transaction, wanted);
}

/** Locks the counters of the days that {@link exchangeLockedCapacity} is to be about: the last of the one order. */
export function lockCapacities(transaction: Transaction, days: readonly DayOfRule[]): void {
  lockDays(transaction, days);
}

/**
 * Takes a unit of the capacity of one locked day and gives that of another back, if there is one, unless none is left to take: then both are as
 * they were, and the answer is false. Within one day neither is needed.
 */
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

import type { Transaction } from "../../call.js";
import {
  type DayOfRule,
  giveCapacityBack,
  lockDays,
  takeCapacity,
  takeLockedCapacity,
} from "./appointments/day-counters.js";

/**
 * Takes a unit of the capacity of one day and gives that of another back, if there is one: the last of what
 * `locks.ts` orders. Within one day neither is needed. False where no unit is left to take.
 */
export async function exchangeCapacity(
  transaction: Transaction,
  wanted: DayOfRule,
  old: DayOfRule | undefined,
): Promise<boolean> {
  if (old === undefined) return takeCapacity(transaction, wanted);
  const [oldKey, wantedKey] = [dayKey(old), dayKey(wanted)];
  if (oldKey === wantedKey) return true;
  if (oldKey < wantedKey) giveCapacityBack(transaction, old);
  const isTaken = takeCapacity(transaction, wanted);
  if (oldKey > wantedKey) giveCapacityBack(transaction, old);
  return isTaken;
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

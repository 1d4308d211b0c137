import type { Transaction } from "../../../call.js";
import { dropHeldCapacity } from "../appointments/day-counters.js";
import { hastenFreedSlots } from "../schedule/freed-slots.js";
import { dropHolder } from "./hold-holders.js";
import { endHold, type HoldRecord } from "./holds.js";

/**
 * Ends live holds ({@link isLiveHold}) that the transaction has locked. Pass no ended hold: another hold with the same
 * expiry could lose its unit of capacity. Frees the units of the holds, and removes the holds from the counts of their
 * principals. Also calls {@link hastenFreedSlots} for their times. Locks the counters of days, then the counters of
 * principals, then the freed slots.
 */
export function releaseHolds(transaction: Transaction, holds: readonly HoldRecord[], at: Date): void {
  for (const { id } of holds) endHold(transaction, id, at, undefined);
  const units = holds
    .filter(({ usesUnit }) => usesUnit)
    .toSorted(byKey(({ ruleId, localDate }) => `${ruleId} ${localDate}`));
  for (const hold of units) dropHeldCapacity(transaction, hold, hold.expiresAt);
  for (const hold of holds.toSorted(byKey(({ principal }) => principal))) dropHolder(transaction, hold);
  hastenFreedSlots(transaction, holds);
}

function byKey(keyOf: (hold: HoldRecord) => string) {
  return (one: HoldRecord, other: HoldRecord) => (keyOf(one) < keyOf(other) ? -1 : 1);
}

import type { Transaction } from "../../call.js";
import { readWaitLimit, type WaitLimitHolder } from "../../postgres/tables/catalogs/wait-limits.js";
import { lastDayOfWait } from "../../scheduling/last-day-of-wait.js";

/**
 * The last local date on which something that was asked for on a date keeps to the opportunity definition of its appointment
 * type or service, as that is now; undefined where none limits it.
 */
export async function findDueDate(
  transaction: Transaction,
  holder: WaitLimitHolder,
  requestedOn: string,
): Promise<string | undefined> {
  const limit = await readWaitLimit(transaction, holder, requestedOn);
  return limit && lastDayOfWait(requestedOn, limit, limit.holidays);
}

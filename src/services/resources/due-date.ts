import type { Transaction } from "../../call.js";
import { readWaitLimit, type WaitLimitSubject } from "../../postgres/tables/catalogs/wait-limits.js";
import { lastDayOfWait } from "../../scheduling/last-day-of-wait.js";

/**
 * Returns the last local date of a wait that begins on `requestedOn`, by the current opportunity definition of a
 * subject. Undefined if no definition applies.
 */
export async function findDueDate(
  transaction: Transaction,
  subject: WaitLimitSubject,
  requestedOn: string,
): Promise<string | undefined> {
  const limit = await readWaitLimit(transaction, subject, { from: requestedOn, through: requestedOn });
  return limit && lastDayOfWait(requestedOn, limit, limit.holidays);
}

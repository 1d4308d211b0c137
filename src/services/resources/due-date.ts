import type { Transaction } from "../../call.js";
import { readWaitLimit, type WaitLimitSubject } from "../../postgres/tables/catalogs/wait-limits.js";
import { lastDayOfWait } from "../../scheduling/last-day-of-wait.js";

/**
 * Returns the due date of a wait that began on the local date `requestedOn`. This is the last local date within the
 * maximum wait, which the active opportunity definition of `subject` sets. A subject is an appointment type, a service
 * or a case category. Returns undefined if the subject has no active definition.
 */
export async function findDueDate(
  transaction: Transaction,
  subject: WaitLimitSubject,
  requestedOn: string,
): Promise<string | undefined> {
  const limit = await readWaitLimit(transaction, subject, { from: requestedOn, through: requestedOn });
  return limit && lastDayOfWait(requestedOn, limit, limit.holidays);
}

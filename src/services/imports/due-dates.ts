import type { Transaction } from "../../call.js";
import { readHolidaysAfter, readWaitLimits } from "../../postgres/tables/catalogs/wait-limits.js";
import { lastDayOfWait } from "../../scheduling/last-day-of-wait.js";

/**
 * A wait of a patient. `holderId` is the id of the appointment type or service whose opportunity definition limits the
 * wait. `requestedOn` is the first local date of the wait, YYYY-MM-DD.
 */
export interface Waiting {
  readonly holderId: string;
  readonly requestedOn: string;
}

/** Returns the last local date (YYYY-MM-DD) within the maximum wait; undefined if there is no maximum wait. */
export type DueDateOf = (waiting: Waiting) => string | undefined;

/**
 * Reads the active opportunity definitions that limit these waits. Returns a function that returns the due date of one
 * of the waits.
 */
export async function readDueDates(
  transaction: Transaction,
  table: "appointment_types" | "healthcare_services",
  waits: readonly Waiting[],
): Promise<DueDateOf> {
  const first = waits.map(({ requestedOn }) => requestedOn).toSorted()[0];
  if (first === undefined) return () => undefined;
  const ids = [...new Set(waits.map(({ holderId }) => holderId))];
  const [limits, holidays] = await Promise.all([
    readWaitLimits(transaction, table, ids),
    readHolidaysAfter(transaction, first),
  ]);
  const limitOf = new Map(limits.map((limit) => [limit.holderId, limit]));
  return ({ holderId, requestedOn }) => {
    const limit = limitOf.get(holderId);
    return limit && lastDayOfWait(requestedOn, limit, holidays);
  };
}

import type { Transaction } from "../../call.js";
import { type AppointmentRecord, findSeries } from "../../postgres/tables/appointments/appointments.js";
import { findDueDate } from "../resources/due-date.js";

/** An appointment with its new type and the new date of its request. */
export type CorrectedWait = Pick<AppointmentRecord, "id" | "seriesId" | "appointmentTypeId" | "requestedOn">;

/**
 * Returns the due date of an appointment after a change of its type or of the date of its request. Returns undefined if
 * this date is unknown. Of a series, only the first appointment has a due date, because the patient's wait ends with it.
 * The first one is the one with the lowest id, because it was booked first.
 */
export async function correctedDueDate(
  transaction: Transaction,
  { id, seriesId, appointmentTypeId, requestedOn }: CorrectedWait,
): Promise<string | undefined> {
  if (requestedOn === undefined) return undefined;
  const [dueOn, ids] = await Promise.all([
    findDueDate(transaction, { appointmentTypeId }, requestedOn),
    seriesId === undefined ? [] : findSeries(transaction, seriesId),
  ]);
  return ids.some((other) => other < id) ? undefined : dueOn;
}

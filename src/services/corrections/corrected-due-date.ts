import type { Transaction } from "../../call.js";
import { type AppointmentRecord, findSeries } from "../../postgres/tables/appointments/appointments.js";
import { findDueDate } from "../resources/due-date.js";

/** An appointment with its new type and the new date of its request. */
export type CorrectedWait = Pick<AppointmentRecord, "id" | "seriesId" | "appointmentTypeId" | "requestedOn">;

/**
 * Returns the due date of an appointment after a change of its type or of the date of its request. Returns undefined in
 * these cases, so that the appointment has no due date:
 * - The date of the request is not known.
 * - The type has no active opportunity definition.
 * - The appointment is a later one of a series. The first one has the lowest id, because it was booked first. The
 *   patient's wait ends with the first one.
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

import type { ReadyCall } from "../../call.js";
import { type FieldError, unknownReferences, validationFailed } from "../../errors.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { payers } from "../../postgres/tables/catalogs/catalogs.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import { findPatientOf } from "../../postgres/tables/patients/patient-locks.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { displacementOf, findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { requireUnerased } from "../appointments/appointment-preconditions.js";
import type { ChangedAppointment } from "../appointments/appointment-transitions.js";
import { dateErrors } from "../appointments/booking-wait.js";
import { inactive, missing, requireFound, requireVersion } from "../resources/preconditions.js";
import { correctedDueDate } from "./corrected-due-date.js";

/**
 * A request to correct the request date, the desired date, the payer or `firstVisit` of an appointment. An undefined
 * attribute stays the same. Dates are YYYY-MM-DD.
 */
export interface WaitCorrection {
  readonly appointmentId: string;
  readonly expectedVersion: number;
  readonly requestedOn?: string | undefined;
  readonly desiredOn?: string | undefined;
  readonly firstVisit?: boolean | undefined;
  readonly payerId?: string | undefined;
  readonly reason: string;
}

/**
 * Corrects the request date, the desired date, the payer or `firstVisit` of an appointment in any status, and returns
 * the appointment. The history keeps the previous values and the reason.
 *
 * If the request has a request date, even an unchanged one, the due date is calculated again from the active
 * opportunity definition of the appointment type. Without an active definition, the due date is removed.
 *
 * Throws, in this order:
 * - 404 for an unknown appointment, then for an unknown payer
 * - 409 for a stale version
 * - 409 for an erased patient
 * - 422 for a payer who is not active and for dates out of range
 */
export async function correctWait(
  call: ReadyCall,
  request: WaitCorrection,
  nowMs: number,
): Promise<ChangedAppointment> {
  const { transaction } = call;
  const { appointmentId, expectedVersion, reason, requestedOn, desiredOn, firstVisit, payerId } = request;
  const [{ appointment: found }, patient, held, payer] = await Promise.all([
    lockInOrder(transaction, { appointmentId }),
    findPatientOf(transaction, appointmentId),
    findOccupiedSlots(transaction, appointmentId),
    payerId === undefined ? undefined : findResource(transaction, call.principal, payers, payerId),
  ]);
  const appointment = requireFound(found, "appointmentId");
  if (payerId !== undefined && payer === undefined) throw unknownReferences([missing("payerId")]);
  requireVersion(appointment, expectedVersion);
  requireUnerased(patient);
  const errors = judgeDates(request, appointment, localDateAt(nowMs));
  if (payer?.active === false) errors.unshift(inactive("payerId"));
  if (errors.length > 0) throw validationFailed(errors);
  const corrected = {
    ...appointment,
    ...(requestedOn !== undefined && {
      requestedOn,
      dueOn: await correctedDueDate(transaction, { ...appointment, requestedOn }),
    }),
    desiredOn: desiredOn ?? appointment.desiredOn,
    firstVisit: firstVisit ?? appointment.firstVisit,
    payerId: payerId ?? appointment.payerId,
    version: appointment.version + 1,
    updatedAt: new Date(nowMs),
  };
  updateAppointment(transaction, corrected);
  insertAppointmentChange(transaction, appointment, corrected, call.principal, call, { reason, isOfWait: true });
  const { id: resourceId, version } = corrected;
  call.effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  return { appointment: corrected, displacement: displacementOf(held) };
}

/** Returns an error for each date of the request that is out of range. `today` is YYYY-MM-DD. */
function judgeDates(request: WaitCorrection, appointment: AppointmentRecord, today: string): FieldError[] {
  const start = request.requestedOn ?? appointment.requestedOn ?? localDateAt(appointment.createdAt.getTime());
  return dateErrors(request, start, today, request.desiredOn === undefined ? appointment.desiredOn : undefined);
}

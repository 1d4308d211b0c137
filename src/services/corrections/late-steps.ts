import type { ReadyCall } from "../../call.js";
import { conflicts } from "../../errors.js";
import { findCheckInTime } from "../../postgres/tables/appointments/appointment-history.js";
import { isLive } from "../../postgres/tables/appointments/appointment-status.js";
import { updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import { displacementOf, findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { marginsOf } from "../../scheduling/visit-times.js";
import { inactivePatient } from "../appointments/appointment-preconditions.js";
import {
  type ChangedAppointment,
  release,
  requireReason,
  type VisitClock,
} from "../appointments/appointment-transitions.js";
import { isAny } from "../appointments/time-conflicts.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import {
  earlySteps,
  findReason,
  type GivenSteps,
  lateStepsOf,
  recordSteps,
  requireTrueTimes,
  takeSteps,
  tooLate,
} from "./late-entry.js";

/**
 * A request to record the arrival, attendance or no-show of an appointment afterwards. `expectedVersion` is the version
 * that the caller read.
 */
export interface LateSteps extends GivenSteps {
  readonly appointmentId: string;
  readonly expectedVersion: number;
}

/**
 * Records steps of an appointment (arrival, attendance or no-show) afterwards, with the times at which they happened.
 * Returns the appointment after the steps.
 *
 * Throws, in this order:
 * - 404 if the appointment or the no-show reason does not exist
 * - 422 if the no-show reason is not active or its required comment is missing
 * - 409 for a stale version, then for a status that does not allow a step
 * - 422 for a step on another day than the visit or in the future, and for an attendance before the arrival
 * - 409 with all conflicts: the visit is too long ago, a step is earlier than the visit margins allow, or the patient
 *   is not active (checked only for an arrival at a PENDING appointment)
 */
export async function enterLateSteps(
  request: LateSteps,
  call: ReadyCall,
  { nowMs, margins }: VisitClock,
): Promise<ChangedAppointment> {
  const { transaction } = call;
  const { appointmentId, noShowReasonId, reason } = request;
  const steps = lateStepsOf(request);
  const freesSlot = steps.some(({ transition }) => !isLive(transition.to));
  const [settings, locked, held, found, checkedInAt] = await Promise.all([
    findTenantSettings(transaction),
    lockInOrder(transaction, { patient: { appointmentId }, appointmentId, freesSlot }),
    freesSlot ? [] : findOccupiedSlots(transaction, appointmentId),
    findReason(request, call),
    request.arrivedAt === undefined ? findCheckInTime(transaction, appointmentId) : undefined,
  ]);
  const appointment = requireFound(locked.appointment, "appointmentId");
  if (noShowReasonId !== undefined) requireReason(found, "noShowReasonId", request.comment);
  requireVersion(appointment, request.expectedVersion);
  const taken = takeSteps(appointment, steps, request, nowMs);
  const startMs = appointment.startsAt.getTime();
  requireTrueTimes(steps, startMs, nowMs, checkedInAt);
  const conflicting = [
    ...tooLate(startMs, settings, nowMs, "appointmentId"),
    ...(appointment.status === "PENDING" && !freesSlot ? inactivePatient(locked.patient, "appointmentId") : []),
    ...earlySteps(appointment, steps, marginsOf(settings, margins)),
  ];
  if (isAny(conflicting)) throw conflicts(conflicting);
  const entered = taken.at(-1)?.after ?? appointment;
  if (freesSlot) release(transaction, locked.occupiedSlots);
  updateAppointment(transaction, entered);
  recordSteps(call, taken, reason);
  return { appointment: entered, displacement: displacementOf(held) };
}

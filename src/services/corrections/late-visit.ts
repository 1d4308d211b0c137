import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { conflicts, type FieldError, validationFailed } from "../../errors.js";
import type { EnterLateVisitRequestValid } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentRecord, insertAppointment } from "../../postgres/tables/appointments/appointments.js";
import { insertOwnSlot } from "../../postgres/tables/schedule/own-slots.js";
import { displacementOf, findOccupiedSlots, occupySlots } from "../../postgres/tables/schedule/slots.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { minuteOf } from "../../scheduling/booking-times.js";
import { formatInstant, localDateAt } from "../../scheduling/local-clock.js";
import { marginsOf } from "../../scheduling/visit-times.js";
import { type ChangedAppointment, requireReason, type VisitClock } from "../appointments/appointment-transitions.js";
import { newAppointment } from "../appointments/booking.js";
import { type LockedTime, lockTime, placementBeside, tryOrdinary } from "../appointments/locked-time.js";
import { closeServedEntry } from "../appointments/served-entry.js";
import { fill, placementOf, type TakenSlots } from "../appointments/take-slots.js";
import { isAny, timeConflicts } from "../appointments/time-conflicts.js";
import {
  earlySteps,
  findReason,
  type LateStep,
  lateStepsOf,
  recordSteps,
  requireTrueTimes,
  takeSteps,
  tooLate,
} from "./late-entry.js";

/**
 * Records a past visit that was not booked, and its steps (arrival, attendance or no-show) with the times at which they
 * happened. Returns the new appointment after its steps.
 *
 * Throws, in this order:
 * - 422 for a step on another day than the visit or in the future, and for an attendance before the arrival
 * - 404 if a resource in the request does not exist
 * - 422 if a resource is not active, or the request date or the desired date is out of range
 * - 422 if two resources do not belong together, for example because the program does not offer the service
 * - 404 if the no-show reason does not exist; 422 if it is not active or its required comment is missing
 * - 422 if the visit does not begin on a whole minute, or is not over
 * - 409 with all conflicts: the visit is too long ago, a step is earlier than the visit margins allow, the patient is
 *   not active, or the waitlist entry is closed. Without `noShowAt`, a busy patient or practitioner is a conflict too
 * - 422 if a visit outside the schedule would end on another day
 */
export async function enterLateVisit(
  request: EnterLateVisitRequestValid,
  call: ReadyCall,
  { nowMs, margins }: VisitClock,
): Promise<ChangedAppointment> {
  const { transaction } = call;
  const steps = lateStepsOf(request);
  const startMs = timestampMs(request.startsAt);
  requireTrueTimes(steps, startMs, nowMs, undefined);
  const [settings, found, time] = await Promise.all([
    findTenantSettings(transaction),
    findReason(request, call),
    lockTime(request, call, { nowMs, kind: "LATE" }),
  ]);
  if (request.noShowReasonId !== undefined) requireReason(found, "noShowReasonId", request.comment);
  requireOver(time, nowMs);
  const isMissed = request.noShowAt !== undefined;
  const conflicting = [
    ...tooLate(startMs, settings, nowMs, "startsAt"),
    ...time.found,
    ...earlySteps({ startsAt: new Date(startMs) }, steps, marginsOf(settings, margins)),
    ...(isMissed ? [] : timeConflicts({ slots: [], busy: time.beside }, "startsAt")),
  ];
  if (isAny(conflicting)) throw conflicts(conflicting);
  const taken = isMissed ? missedSlots(time) : await tryOrdinary(call, time, nowMs);
  const booked = bookedLate(request, call, time, taken, nowMs);
  const entered = record(call, booked, steps, request, nowMs);
  closeServedEntry(call, time.locked.waitlistEntry, entered);
  if (isMissed) return { appointment: entered, displacement: undefined };
  if (taken === undefined) insertOwnSlot(transaction, call.newId(), entered, true);
  else occupySlots(transaction, taken.slots, entered.id);
  return { appointment: entered, displacement: displacementOf(await findOccupiedSlots(transaction, entered.id)) };
}

/** Requires that a visit began on a whole minute and is over. Otherwise throws 422. */
function requireOver({ startMs, durationMinutes: minutes }: LockedTime, nowMs: number): void {
  const latestMs = minuteOf(nowMs) - minutes * 60_000;
  if (minuteOf(startMs) === startMs && startMs <= latestMs) return;
  const message = `the value must be a whole minute, not after ${formatInstant(latestMs)}: a visit is entered when it is over`;
  const error: FieldError = { code: "OUT_OF_RANGE", field: "startsAt", message };
  throw validationFailed([error]);
}

/**
 * Returns the slots of the schedule at the time of a missed visit. The slots need not be free, because a missed visit
 * occupies no slots. Returns undefined if the slots do not cover the visit.
 */
function missedSlots({ locked: { slots }, durationMinutes: minutes, locationId }: LockedTime): TakenSlots | undefined {
  return fill(slots, minutes) ? { slots, placement: placementOf(slots, locationId, undefined) } : undefined;
}

/**
 * Returns the record of the appointment before its steps (arrival, attendance or no-show). Its `assignedOn` is the day
 * of the visit. If the visit cannot use slots of the schedule (`taken` is undefined), the appointment is overbooked.
 */
function bookedLate(
  request: EnterLateVisitRequestValid,
  call: ReadyCall,
  time: LockedTime,
  taken: TakenSlots | undefined,
  nowMs: number,
): AppointmentRecord {
  const placement = taken?.placement ?? placementBeside(request, time);
  const place = { ...placement, ...time.wait, firstVisit: time.firstVisit };
  return {
    ...newAppointment(call, request, place, nowMs),
    assignedOn: localDateAt(time.startMs),
    ...(taken === undefined && { overbooked: true, overbookingReason: request.reason }),
  };
}

/**
 * Inserts the appointment with the status after its last step (arrival, attendance or no-show). Its history gets one
 * change for the booking and one for each step. Returns the appointment.
 */
function record(
  call: ReadyCall,
  booked: AppointmentRecord,
  steps: readonly LateStep[],
  request: EnterLateVisitRequestValid,
  nowMs: number,
): AppointmentRecord {
  const { transaction, principal } = call;
  const { reason } = request;
  const taken = takeSteps(booked, steps, request, nowMs);
  const entered = taken.at(-1)?.after ?? booked;
  const happenedAt = new Date(Math.min(booked.startsAt.getTime(), ...steps.map(({ atMs }) => atMs)));
  insertAppointment(transaction, entered);
  insertAppointmentChange(transaction, undefined, booked, principal, call, { reason, happenedAt });
  call.effects.push({ resourceType: "Appointment", resourceId: booked.id, action: "CREATE", version: 1 });
  recordSteps(call, taken, reason);
  return entered;
}

import type { ReadyCall, Transaction } from "../../call.js";
import { conflict, notFound, validationFailed } from "../../errors.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentStatus, isLive } from "../../postgres/tables/appointments/appointment-status.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { countedDay, giveCapacityBack } from "../../postgres/tables/appointments/day-counters.js";
import type { ReasonAttributes } from "../../postgres/tables/catalogs/catalogs.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import {
  findOccupiedSlots,
  type Retention,
  releaseSlots,
  retentionOf,
  type SlotRecord,
} from "../../postgres/tables/schedule/slots.js";
import { formatInstant } from "../../scheduling/local-clock.js";
import { earliestStepMs, type VisitMargins } from "../../scheduling/visit-times.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { requireActive } from "./appointment-preconditions.js";

/** A step in the life of an appointment. One to a state that is not live gives slot and capacity back. */
export interface Transition {
  readonly from: readonly AppointmentStatus[];
  readonly to: AppointmentStatus;
  /** Whether it says that the patient comes, for which a patient of a pending appointment has to be active. */
  readonly expectsPatient?: true;
}

/** When it is, and how far from the start of an appointment its steps are taken. */
export interface VisitClock {
  readonly nowMs: number;
  readonly margins: VisitMargins;
}

export const confirm: Transition = { from: ["PENDING"], to: "CONFIRMED", expectsPatient: true };
export const checkIn: Transition = { from: ["PENDING", "CONFIRMED"], to: "CHECKED_IN", expectsPatient: true };
export const attend: Transition = { from: ["CHECKED_IN"], to: "ATTENDED" };
export const missAppointment: Transition = { from: ["PENDING", "CONFIRMED"], to: "NO_SHOW" };
export const cancel: Transition = { from: ["PENDING", "CONFIRMED", "CHECKED_IN"], to: "CANCELLED" };

/** Which appointment, as what version, and why. */
export interface TransitionRequest {
  readonly appointmentId: string;
  readonly expectedVersion: number;
  readonly reason?: GivenReason;
  readonly comment?: string | undefined;
}

/** The reason of a step, which has to exist and be active, and asks for a comment perhaps. */
export interface GivenReason {
  readonly field: "cancellationReasonId" | "noShowReasonId";
  readonly id: string;
  readonly table: ResourceTable<ReasonAttributes>;
}

/** An appointment that was changed, and why its slots are retained, if they are. */
export interface ChangedAppointment {
  readonly appointment: AppointmentRecord;
  readonly retention: Retention | undefined;
}

/**
 * Moves an appointment on by one step: 404, also for the reason, and 422 for one that will not do; then 409 for another version,
 * for a status that the step is not from, for a time at which it cannot be taken, and for a patient who is not active and would
 * be expected from now on.
 */
export async function moveOn(
  call: ReadyCall,
  transition: Transition,
  { appointmentId, expectedVersion, reason, comment }: TransitionRequest,
  clock: VisitClock,
): Promise<ChangedAppointment> {
  const transaction = call.transaction;
  const freesSlot = !isLive(transition.to);
  const expected = transition.expectsPatient && { patient: { appointmentId } };
  const [locked, held, found] = await Promise.all([
    lockInOrder(transaction, { ...expected, appointmentId, freesSlot }),
    freesSlot ? [] : findOccupiedSlots(transaction, appointmentId),
    reason && findResource(transaction, call.principal, reason.table, reason.id),
  ]);
  const appointment = requireFound(locked.appointment);
  if (reason !== undefined) requireReason(found, reason.field, comment);
  requireVersion(appointment, expectedVersion);
  requireStatus(appointment, transition);
  requireTime(appointment, transition, clock);
  if (transition.expectsPatient && appointment.status === "PENDING") requireActive(locked.patient, "appointmentId");
  const moved: AppointmentRecord = {
    ...appointment,
    ...(reason && { [reason.field]: reason.id, comment }),
    status: transition.to,
    version: appointment.version + 1,
    updatedAt: new Date(clock.nowMs),
  };
  release(transaction, locked.occupiedSlots);
  updateAppointment(transaction, moved);
  insertAppointmentChange(transaction, appointment, moved, call.principal, call);
  const { id: resourceId, version } = moved;
  call.effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  return { appointment: moved, retention: retentionOf(held) };
}

/** Requires the reason of a step to exist (404) and be active, with a comment where it asks for one (422). */
function requireReason(reason: ReasonAttributes | undefined, field: string, comment: string | undefined): void {
  if (reason === undefined) {
    const missing = { code: "NOT_FOUND" as const, field, message: "no such resource exists" };
    throw notFound("A resource that the request refers to does not exist; see errors.", [missing]);
  }
  if (!reason.active) throw validationFailed([{ code: "INVALID_VALUE", field, message: "the resource is not active" }]);
  if (reason.requiresComment && comment === undefined) {
    throw validationFailed([{ code: "REQUIRED", field: "comment", message: "this reason requires a comment" }]);
  }
}

function requireStatus({ status }: AppointmentRecord, { from, to }: Transition): void {
  if (from.includes(status)) return;
  const message = `an appointment that is ${status} cannot become ${to}`;
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
}

/** A confirmation comes before the start; the other steps not before their time, which the message says. */
function requireTime({ startsAt }: AppointmentRecord, { to }: Transition, { nowMs, margins }: VisitClock): void {
  const startsAtMs = startsAt.getTime();
  if (to === "CONFIRMED" && startsAtMs <= nowMs) {
    const message = "an appointment that has begun cannot be confirmed";
    throw conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
  }
  if (to !== "CHECKED_IN" && to !== "ATTENDED" && to !== "NO_SHOW") return;
  const earliestMs = earliestStepMs(to, startsAtMs, margins);
  if (nowMs >= earliestMs) return;
  const message = `the appointment cannot become ${to} before ${formatInstant(earliestMs)}`;
  throw conflict({ code: "TOO_EARLY", field: "appointmentId", message });
}

function release(transaction: Transaction, slots: readonly SlotRecord[]): void {
  releaseSlots(transaction, slots);
  const day = countedDay(slots[0]);
  if (day !== undefined) giveCapacityBack(transaction, day);
}

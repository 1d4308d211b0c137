import type { ReadyCall, Transaction } from "../../call.js";
import { conflict, type FieldError, unknownReferences, validationFailed } from "../../errors.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentStatus, isLive, isMovable } from "../../postgres/tables/appointments/appointment-status.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { countedDay, giveCapacityBack } from "../../postgres/tables/appointments/day-counters.js";
import type { ReasonAttributes } from "../../postgres/tables/catalogs/catalogs.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import {
  type Displacement,
  displacementOf,
  findOccupiedSlots,
  releaseSlots,
  type SlotRecord,
} from "../../postgres/tables/schedule/slots.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { formatInstant } from "../../scheduling/local-clock.js";
import { earliestStepMs, marginsOf, type VisitMargins } from "../../scheduling/visit-times.js";
import { inactive, missing, requireFound, requireVersion } from "../resources/preconditions.js";
import { requireActive, requireInTime } from "./appointment-preconditions.js";

/**
 * A status change of an appointment. A change to CANCELLED or NO_SHOW frees the slots of the appointment and its unit
 * of the day's capacity.
 */
export interface Transition {
  readonly from: readonly AppointmentStatus[];
  readonly to: AppointmentStatus;
  /** True if the patient of a PENDING appointment must be active. This holds for a confirmation and a check-in. */
  readonly expectsPatient?: true;
}

/**
 * The current time, and the margins that limit how early an appointment can become CHECKED_IN, ATTENDED or NO_SHOW.
 * {@link moveOn} uses a margin only if the tenant has not set its own.
 */
export interface VisitClock {
  readonly nowMs: number;
  readonly margins: VisitMargins;
}

export const confirm: Transition = { from: ["PENDING"], to: "CONFIRMED", expectsPatient: true };
export const checkIn: Transition = { from: ["PENDING", "CONFIRMED"], to: "CHECKED_IN", expectsPatient: true };
export const attend: Transition = { from: ["CHECKED_IN"], to: "ATTENDED" };
export const missAppointment: Transition = { from: ["PENDING", "CONFIRMED"], to: "NO_SHOW" };
export const cancel: Transition = { from: ["PENDING", "CONFIRMED", "CHECKED_IN"], to: "CANCELLED" };

/** A request to change the status of an appointment. `expectedVersion` is the version that the caller read. */
export interface TransitionRequest {
  readonly appointmentId: string;
  readonly expectedVersion: number;
  readonly reason?: GivenReason;
  readonly comment?: string | undefined;
}

/** The reason of a status change. It must exist and be active. It may require a comment. */
export interface GivenReason {
  readonly field: "cancellationReasonId" | "noShowReasonId";
  readonly id: string;
  readonly table: ResourceTable<ReasonAttributes>;
}

/**
 * A changed appointment. `displacement` says why slots of the appointment are no longer in the schedule; undefined if
 * there are no such slots.
 */
export interface ChangedAppointment {
  readonly appointment: AppointmentRecord;
  readonly displacement: Displacement | undefined;
}

/**
 * Changes the status of an appointment and returns the changed appointment.
 *
 * Throws, in this order:
 * - 404 if the appointment does not exist
 * - 404 if the reason does not exist; 422 if it is not active or its required comment is missing
 * - 409 if the version is stale
 * - 409 if the transition does not start from the current status
 * - 409 if an appointment to confirm has begun
 * - 409 if it is too early for CHECKED_IN, ATTENDED or NO_SHOW
 * - 409 if it is too late to cancel an appointment that is PENDING or CONFIRMED ({@link requireInTime})
 * - 409 if a PENDING appointment is confirmed or checked in and its patient is not active
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
  const [settings, locked, held, found] = await Promise.all([
    findTenantSettings(transaction),
    lockInOrder(transaction, { ...expected, appointmentId, freesSlot }),
    freesSlot ? [] : findOccupiedSlots(transaction, appointmentId),
    reason && findResource(transaction, call.principal, reason.table, reason.id),
  ]);
  const appointment = requireFound(locked.appointment, "appointmentId");
  if (reason !== undefined) requireReason(found, reason.field, comment);
  requireVersion(appointment, expectedVersion);
  requireStatus(appointment, transition);
  requireUnbegun(appointment, transition, clock.nowMs);
  const early = earlyStep(appointment, transition, { nowMs: clock.nowMs, margins: marginsOf(settings, clock.margins) });
  if (early !== undefined) throw conflict(early);
  const change = { principal: call.principal, slots: locked.occupiedSlots, nowMs: clock.nowMs };
  if (isEarlyCancellation(appointment, transition))
    requireInTime(appointment, "be cancelled", settings.latestCancelHours, change);
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
  return { appointment: moved, displacement: displacementOf(held) };
}

/**
 * Throws 404 if the reason does not exist. Throws 422 if it is not active, or if it requires a comment and there is
 * none.
 */
export function requireReason(reason: ReasonAttributes | undefined, field: string, comment: string | undefined): void {
  if (reason === undefined) throw unknownReferences([missing(field)]);
  if (!reason.active) throw validationFailed([inactive(field)]);
  if (reason.requiresComment && comment === undefined) {
    throw validationFailed([{ code: "REQUIRED", field: "comment", message: "the field is required with this reason" }]);
  }
}

/** Requires that a transition starts from the status of an appointment. Otherwise throws 409. */
export function requireStatus({ status }: AppointmentRecord, { from, to }: Transition): void {
  if (from.includes(status)) return;
  const message = `the appointment is ${status}; only ${from.join(" or ")} can become ${to}`;
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
}

/** Throws 409 if the transition confirms an appointment that has already begun. Other transitions always pass. */
function requireUnbegun({ startsAt }: AppointmentRecord, { to }: Transition, nowMs: number): void {
  if (to !== "CONFIRMED" || startsAt.getTime() > nowMs) return;
  const message = "the appointment has started and can no longer be confirmed";
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
}

/** Returns a conflict on `field` if a transition is too early. The message names the earliest time. */
export function earlyStep(
  { startsAt }: Pick<AppointmentRecord, "startsAt">,
  { to }: Transition,
  { nowMs, margins }: VisitClock,
  field = "appointmentId",
): FieldError | undefined {
  if (to !== "CHECKED_IN" && to !== "ATTENDED" && to !== "NO_SHOW") return undefined;
  const earliestMs = earliestStepMs(to, startsAt.getTime(), margins);
  if (nowMs >= earliestMs) return undefined;
  return {
    code: "TOO_EARLY",
    field,
    message: `the appointment cannot become ${to} before ${formatInstant(earliestMs)}`,
  };
}

/** Whether a transition cancels an appointment whose patient has not arrived. */
function isEarlyCancellation({ status }: AppointmentRecord, { to }: Transition): boolean {
  return to === "CANCELLED" && isMovable(status);
}

/** Frees the slots of an appointment and its unit of the day's capacity. An overbooked appointment has no such unit. */
export function release(transaction: Transaction, slots: readonly SlotRecord[]): void {
  const day = countedDay(slots[0]);
  if (day !== undefined) giveCapacityBack(transaction, day);
  releaseSlots(transaction, slots);
}

import type { ReadyCall } from "../../call.js";
import { conflict, type FieldError } from "../../errors.js";
import {
  findStatusBeforeCancellation,
  insertAppointmentChange,
} from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentStatus, isLive } from "../../postgres/tables/appointments/appointment-status.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyAgain } from "../../postgres/tables/appointments/busy-people.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import { insertOwnSlot } from "../../postgres/tables/schedule/own-slots.js";
import {
  displacementOf,
  findOccupiedSlots,
  occupySlots,
  type SlotRecord,
} from "../../postgres/tables/schedule/slots.js";
import { inactivePatient, requireUnerased } from "../appointments/appointment-preconditions.js";
import type { ChangedAppointment } from "../appointments/appointment-transitions.js";
import { fill, takeTime } from "../appointments/take-slots.js";
import { timeConflicts } from "../appointments/time-conflicts.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { retainUnfit } from "../schedule/remake-span.js";

const FIELD = "appointmentId";

/**
 * Maps the current status to the status that a correction restores. CANCELLED has no entry: a correction restores the
 * status before the cancellation.
 */
const BACK: Readonly<Partial<Record<AppointmentStatus, AppointmentStatus>>> = {
  CHECKED_IN: "CONFIRMED",
  ATTENDED: "CHECKED_IN",
  NO_SHOW: "CONFIRMED",
};

/** A request to take an appointment back to the status `to`. `expectedVersion` is the version that the caller read. */
export interface CorrectionRequest {
  readonly appointmentId: string;
  readonly expectedVersion: number;
  readonly to: AppointmentStatus;
  readonly reason: string;
}

/**
 * Takes an appointment back one step, and returns it. CHECKED_IN and NO_SHOW become CONFIRMED, and ATTENDED becomes
 * CHECKED_IN. CANCELLED becomes the status before the cancellation. The appointment loses its cancellation reason, its
 * no-show reason and their comment; its history keeps them.
 *
 * Throws, in this order:
 * - 404 for an unknown appointment
 * - 409 for a stale version
 * - 409 for a status that cannot go back to `to`
 * - 409 for an erased patient
 * - 409 for a CANCELLED or NO_SHOW appointment with all conflicts: the patient of a CANCELLED appointment is not
 *   active, the time is taken, or the day has no capacity left
 */
export async function correctStatus(
  call: ReadyCall,
  { appointmentId, expectedVersion, to, reason }: CorrectionRequest,
  nowMs: number,
): Promise<ChangedAppointment> {
  const transaction = call.transaction;
  const [locked, held, busy, cancelledFrom] = await Promise.all([
    lockInOrder(transaction, { patient: { appointmentId }, appointmentId, takesTimeAgain: true }),
    findOccupiedSlots(transaction, appointmentId),
    findBusyAgain(transaction, appointmentId, nowMs),
    findStatusBeforeCancellation(transaction, appointmentId),
  ]);
  const appointment = requireFound(locked.appointment, "appointmentId");
  requireVersion(appointment, expectedVersion);
  requireStepBack(appointment, cancelledFrom, to);
  requireUnerased(locked.patient);
  const found = appointment.status === "CANCELLED" ? inactivePatient(locked.patient, FIELD) : [];
  const takenAgain = isLive(appointment.status)
    ? held
    : takeTimeAgain(call, appointment, { slots: locked.slots, busy, found }, nowMs);
  const corrected: AppointmentRecord = {
    ...appointment,
    status: to,
    visitEndsAt: isLive(appointment.status) ? appointment.visitEndsAt : visitEndAgain(appointment, locked.slots),
    cancellationReasonId: undefined,
    noShowReasonId: undefined,
    comment: undefined,
    version: appointment.version + 1,
    updatedAt: new Date(nowMs),
  };
  updateAppointment(transaction, corrected);
  insertAppointmentChange(transaction, appointment, corrected, call.principal, call, { reason });
  const { id: resourceId, version } = corrected;
  call.effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  return { appointment: corrected, displacement: displacementOf(await takenAgain) };
}

function requireStepBack(
  { status }: AppointmentRecord,
  cancelledFrom: AppointmentStatus | undefined,
  to: AppointmentStatus,
): void {
  const back = status === "CANCELLED" ? cancelledFrom : BACK[status];
  if (back === to) return;
  const only = back === undefined ? "" : `, only to ${back}`;
  throw conflict(notAllowed(`the appointment is ${status}, which cannot be taken back to ${to}${only}`));
}

/**
 * The former time of an appointment. `slots` are the locked slots of this time. `busy` says whether the practitioner or
 * the patient is busy then. `found` has a conflict if the patient must be active but is not; otherwise it is empty.
 */
interface FormerTime {
  readonly slots: readonly SlotRecord[];
  readonly busy: BusyPeople;
  readonly found: readonly FieldError[];
}

/**
 * Occupies the time of the practitioner and the patient again. Uses one unit of the day's capacity, except for an
 * overbooked appointment. Throws 409 with all conflicts.
 *
 * Returns the slots of the appointment: the former slots if they still cover its time, otherwise one new slot. The
 * appointment can be displaced: with a new slot, as {@link insertOwnSlot} says; if it is in the future, also if the
 * schedule does not have its slots ({@link retainUnfit}).
 */
async function takeTimeAgain(
  call: ReadyCall,
  appointment: AppointmentRecord,
  { slots, busy, found }: FormerTime,
  nowMs: number,
): Promise<readonly SlotRecord[]> {
  const { transaction } = call;
  const { id, overbooked, startsAt } = appointment;
  const isTaken = slots.some(({ appointmentId }) => appointmentId !== undefined);
  const people = { ...busy, isPractitionerBusy: isTaken || (busy.isPractitionerBusy && !overbooked) };
  const conflicting = [...found, ...timeConflicts({ slots: [], busy: people }, FIELD)];
  await takeTime(transaction, appointment, { found: conflicting, named: "ALL", heldDay: undefined, nowMs }, FIELD);
  if (isFilledBy(slots, appointment)) occupySlots(transaction, slots, id);
  else insertOwnSlot(transaction, call.newId(), appointment, false);
  if (startsAt.getTime() > nowMs) await retainUnfit(transaction, appointment, nowMs);
  return findOccupiedSlots(transaction, id);
}

/**
 * Returns the end of the visit at the former time. An appointment that gets one new slot in place of its former slots
 * must keep its length: without `visitEndsAt`, `lengthHeld` would let it move to a slot of any length.
 */
function visitEndAgain(appointment: AppointmentRecord, slots: readonly SlotRecord[]): Date | undefined {
  const { visitEndsAt, endsAt, overbooked } = appointment;
  return overbooked || isFilledBy(slots, appointment) ? visitEndsAt : (visitEndsAt ?? endsAt);
}

function isFilledBy(slots: readonly SlotRecord[], { startsAt, endsAt }: AppointmentRecord): boolean {
  return fill(slots, (endsAt.getTime() - startsAt.getTime()) / 60_000);
}

function notAllowed(message: string): FieldError {
  return { code: "STATE_NOT_ALLOWED", field: FIELD, message };
}

import type { ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import type { BookAppointmentRequestValid } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentPlacement,
  type AppointmentRecord,
  insertAppointment,
} from "../../postgres/tables/appointments/appointments.js";
import { findBusyInRun } from "../../postgres/tables/appointments/busy-people.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { findOffer } from "../../postgres/tables/appointments/offers.js";
import { lockInOrder, runOf } from "../../postgres/tables/locks.js";
import { occupySlots } from "../../postgres/tables/schedule/slots.js";
import { findBookingLimits } from "../../postgres/tables/settings/booking-limits.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { limitConflicts } from "./appointment-preconditions.js";
import { endBookedHold } from "./booked-hold.js";
import { type BookingReferences, judgeReferences, requireUsable, withBuffer } from "./booking-references.js";
import { requireReplaceable, type Wait } from "./booking-wait.js";
import { closeServedEntry, requireServes } from "./served-entry.js";
import { offeredAt, requireOption, takeSlots } from "./take-slots.js";

/**
 * Books the slots of an option for the patient of the option, and returns the new appointment.
 *
 * Throws, in this order:
 * - 404 if the patient, the waitlist entry or a reference does not exist
 * - 422 if a reference is not active, a date is out of range, or the token has no option for the patient
 * - if the token has expired: 409 if the patient is not active or the waitlist entry is closed, otherwise 410
 * - 422 if the option is too short for the appointment type and its buffer
 * - 422 if the waitlist entry is for another patient or service
 * - 422 if the replaced appointment is for another patient or service, or is neither CANCELLED nor NO_SHOW
 * - 409 for conflicts, or 410 if the option is gone ({@link takeSlots}). The conflicts can be with the patient, the
 *   waitlist entry, the tenant's limits, the time or the capacity of the day.
 */
export async function bookAppointment(
  request: BookAppointmentRequestValid,
  opened: OpenedToken,
  call: ReadyCall,
  nowMs: number,
): Promise<AppointmentRecord> {
  const transaction = call.transaction;
  const { patientId, waitlistEntryId, appointmentTypeId } = request;
  const usable = opened.kind === "OPTION" ? opened.option : undefined;
  const [locked, references, offer, busy, firstVisit, limits] = await Promise.all([
    lockInOrder(transaction, { patient: { id: patientId }, waitlistEntryId, option: usable }),
    judgeReferences(request, call, nowMs),
    usable && findOffer(transaction, call.principal, usable, offeredAt(usable, nowMs)),
    usable &&
      findBusyInRun(transaction, runOf(usable), { patientId }, { nowMs, holdId: usable.holdId, appointmentTypeId }),
    usable && isFirstVisit(transaction, { patientId, serviceId: usable.serviceId, on: usable }),
    usable && findBookingLimits(transaction, { patientId, serviceId: usable.serviceId, on: usable }, nowMs),
  ]);
  const entry = locked.waitlistEntry;
  const found = requireUsable(locked, references, waitlistEntryId);
  const option = requireOption(opened, isForPatient(patientId), found);
  const { minutes, visitMinutes } = withBuffer(references.typeMinutes, references.bufferMinutes);
  if (minutes > option.minutes) throw optionTooShort();
  requireServes(entry, patientId, option.serviceId);
  requireReplaceable(references.replaced, patientId, option.serviceId);
  const reached = limits === undefined ? [] : limitConflicts(limits, call.principal, "patientId");
  const { slots, placement } = await takeSlots(
    transaction,
    option,
    { locked, offer, busy, visitMinutes },
    { found, limits: reached, named: "ALL", nowMs },
  );
  const visit = { ...request, serviceId: option.serviceId };
  const appointment = newAppointment(call, visit, { ...placement, ...references.wait, firstVisit }, nowMs);
  addAppointment(call, appointment);
  occupySlots(transaction, slots, appointment.id);
  closeServedEntry(call, entry, appointment);
  endBookedHold(call, locked.hold, appointment.id, nowMs);
  return appointment;
}

function isForPatient(patientId: string): (option: OptionClaims) => boolean {
  return ({ subject }) => subject.kind === "PATIENT" && subject.id === patientId;
}

/** The fields of a booking that become fields of its appointment. */
export interface BookedVisit extends BookingReferences {
  readonly patientId: string;
  readonly serviceId: string;
  readonly replacesAppointmentId?: string | undefined;
}

/**
 * Returns the record of a new appointment, with version 1. Writes nothing. The status is PENDING if the appointment
 * starts in the future. Otherwise it is CONFIRMED, because the patient is present.
 */
export function newAppointment(
  call: ReadyCall,
  request: BookedVisit,
  placement: AppointmentPlacement & Wait & Pick<AppointmentRecord, "firstVisit">,
  nowMs: number,
): AppointmentRecord {
  const { patientId, serviceId, requestSourceId, appointmentTypeId, consultationTypeId } = request;
  const { payerId, replacesAppointmentId } = request;
  const at = new Date(nowMs);
  return {
    ...placement,
    id: call.newId(),
    patientId,
    serviceId,
    status: placement.startsAt.getTime() <= nowMs ? "CONFIRMED" : "PENDING",
    version: 1,
    requestSourceId,
    appointmentTypeId,
    consultationTypeId,
    payerId,
    replacesAppointmentId,
    assignedOn: localDateAt(nowMs),
    cancellationReasonId: undefined,
    noShowReasonId: undefined,
    comment: undefined,
    modality: undefined,
    joinLink: undefined,
    overbooked: false,
    overbookingReason: undefined,
    seriesId: undefined,
    lateEntry: false,
    createdAt: at,
    updatedAt: at,
  };
}

/** Inserts a new appointment and the first entry of its history. Adds the CREATE effect to the call. */
export function addAppointment(call: ReadyCall, appointment: AppointmentRecord): void {
  insertAppointment(call.transaction, appointment);
  insertAppointmentChange(call.transaction, undefined, appointment, call.principal, call);
  call.effects.push({
    resourceType: "Appointment",
    resourceId: appointment.id,
    action: "CREATE",
    version: 1,
  });
}

function optionTooShort() {
  const message =
    "the appointment type, with its buffer, takes longer than this option: search for options with appointmentTypeId";
  return validationFailed([{ code: "INVALID_OPTION", field: "optionToken", message }]);
}

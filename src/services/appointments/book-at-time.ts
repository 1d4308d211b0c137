import type { ReadyCall } from "../../call.js";
import { conflicts } from "../../errors.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { insertOwnSlot } from "../../postgres/tables/schedule/own-slots.js";
import { displacementOf, findOccupiedSlots, occupySlots } from "../../postgres/tables/schedule/slots.js";
import type { ChangedAppointment } from "./appointment-transitions.js";
import { addAppointment, newAppointment } from "./booking.js";
import { invalid } from "./booking-target.js";
import { type LockedTime, lockTime, placementBeside, type TimedBooking, tryOrdinary } from "./locked-time.js";
import { closeServedEntry } from "./served-entry.js";
import { fill, placementOf, type TakenSlots, takeTime } from "./take-slots.js";
import { isAny, patientOverlap, timeConflicts } from "./time-conflicts.js";

/**
 * Books free adjacent slots of a practitioner from a given time and returns the appointment. The slots must cover the
 * visit and its buffer.
 *
 * Throws:
 * - 404 for unknown references; 422 for references or a start that cannot be booked ({@link lockTime})
 * - 422 if the practitioner has no slots from that time on, or if these slots are too short or have gaps
 * - 409 with all conflicts of the patient, the waitlist entry, the slots, the practitioner, the capacity of the day and
 *   the limits of the tenant
 */
export async function bookAppointmentAt(
  request: TimedBooking,
  call: ReadyCall,
  nowMs: number,
): Promise<AppointmentRecord> {
  const time = await lockTime(request, call, { nowMs, kind: "SCHEDULED" });
  const { slots } = time.locked;
  if (!fill(slots, time.length.minutes))
    throw invalid(
      "startsAt",
      "INVALID_VALUE",
      "the practitioner has no free adjacent slots from this time that are long enough: search for availability, or overbook",
    );
  const placement = placementOf(slots, time.locationId, time.length.visitMinutes);
  const found = [...time.found, ...timeConflicts({ slots, busy: time.busy }, "startsAt")];
  await takeTime(call.transaction, placement, { found, named: "ALL", heldDay: undefined, nowMs }, "startsAt");
  return bookSlots(request, call, time, { slots, placement }, nowMs);
}

/**
 * Books a time of a practitioner and returns the appointment. Takes slots of the schedule if {@link tryOrdinary} finds
 * them free. Otherwise creates a slot, which can overlap other slots of the practitioner and uses no capacity.
 *
 * Throws:
 * - 404 for unknown references; 422 for references or a start that cannot be booked ({@link lockTime})
 * - 409 if the patient is not active, or the waitlist entry is closed
 * - 409 if the patient has another appointment or a hold at that time
 * - 422 if the new slot would end on another day
 */
export async function overbookAppointment(
  request: TimedBooking & { readonly reason: string },
  call: ReadyCall,
  nowMs: number,
): Promise<ChangedAppointment> {
  const time = await lockTime(request, call, { nowMs, kind: "OVERBOOKED" });
  const found = [...time.found, ...(time.beside.isPatientBusy ? [patientOverlap("startsAt")] : [])];
  if (isAny(time.found)) throw conflicts(found);
  const ordinary = await tryOrdinary(call, time, nowMs);
  if (ordinary !== undefined) {
    return { appointment: bookSlots(request, call, time, ordinary, nowMs), displacement: undefined };
  }
  const placement = placementBeside(request, time);
  if (isAny(found)) throw conflicts(found);
  const overbooked = { overbooked: true, overbookingReason: request.reason };
  const appointment = {
    ...newAppointment(call, request, { ...placement, ...time.wait, firstVisit: time.firstVisit }, nowMs),
    ...overbooked,
  };
  addAppointment(call, appointment);
  closeServedEntry(call, time.locked.waitlistEntry, appointment);
  insertOwnSlot(call.transaction, call.newId(), appointment, true);
  return { appointment, displacement: displacementOf(await findOccupiedSlots(call.transaction, appointment.id)) };
}

function bookSlots(
  request: TimedBooking,
  call: ReadyCall,
  { wait, firstVisit, locked }: LockedTime,
  { slots, placement }: TakenSlots,
  nowMs: number,
) {
  const appointment = newAppointment(call, request, { ...placement, ...wait, firstVisit }, nowMs);
  addAppointment(call, appointment);
  occupySlots(call.transaction, slots, appointment.id);
  closeServedEntry(call, locked.waitlistEntry, appointment);
  return appointment;
}

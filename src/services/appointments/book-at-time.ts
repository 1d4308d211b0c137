import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { conflicts, type FieldError } from "../../errors.js";
import type { AppointmentPlacement, AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyInRun, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isBusy } from "../../postgres/tables/appointments/busy-times.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { tryCapacity } from "../../postgres/tables/capacities.js";
import { type Locked, lockInOrder } from "../../postgres/tables/locks.js";
import { readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import {
  displacementOf,
  findOccupiedSlots,
  findSlotAt,
  insertOwnSlot,
  occupySlots,
} from "../../postgres/tables/schedule/slots.js";
import { findBookingLimits } from "../../postgres/tables/settings/booking-limits.js";
import { earliestStart, isWithinOneDay } from "../../scheduling/booking-times.js";
import { clinicTimeZone, localDateAt } from "../../scheduling/local-clock.js";
import { limitConflicts } from "./appointment-preconditions.js";
import type { ChangedAppointment } from "./appointment-transitions.js";
import { addAppointment, newAppointment } from "./booking.js";
import { type BookingReferences, judgeReferences, requireBookable } from "./booking-references.js";
import {
  type BookingTarget,
  checkTarget,
  findTargetOffer,
  invalid,
  requireOffered,
  requireStart,
  startOf,
} from "./booking-target.js";
import type { GivenWait, Wait } from "./booking-wait.js";
import { closeServedEntry } from "./served-entry.js";
import { fill, placementOf, type TakenSlots, takeTime } from "./take-slots.js";
import { isAny, patientOverlap, timeConflicts } from "./time-conflicts.js";

/** A request for an appointment with a practitioner at a given time. */
export interface TimedBooking extends BookingTarget, BookingReferences, GivenWait {
  readonly patientId: string;
  /** Defaults to the current minute. */
  readonly startsAt?: Timestamp | undefined;
  /** Defaults to the duration of the appointment type. */
  readonly durationMinutes?: number | undefined;
}

/**
 * Books the free slots of a practitioner from a given time, as many as the appointment needs.
 *
 * Throws 422 if the slots from that time are too short or have gaps. Throws 409 with all conflicts: the patient is not
 * active, the waitlist entry is closed, a slot is taken, the practitioner or the patient has another appointment, or the
 * day has no capacity left.
 */
export async function bookAppointmentAt(
  request: TimedBooking,
  call: ReadyCall,
  nowMs: number,
): Promise<AppointmentRecord> {
  const time = await lockTime(request, call, nowMs, false);
  const { slots } = time.locked;
  if (!fill(slots, time.minutes))
    throw invalid(
      "startsAt",
      "INVALID_VALUE",
      "the practitioner has no free adjacent slots from this time that are long enough: search for availability, or overbook",
    );
  const placement = placementOf(slots, time.locationId);
  const found = [...time.found, ...timeConflicts({ slots, busy: time.busy }, "startsAt")];
  await takeTime(call.transaction, placement, { found, named: "ALL", heldDay: undefined, nowMs }, "startsAt");
  return bookSlots(request, call, time, { slots, placement }, nowMs);
}

/**
 * Books a time of a practitioner like {@link bookAppointmentAt} if possible. Otherwise it creates a slot for the
 * appointment. That slot may overlap other slots of the practitioner, and it uses no capacity of the day.
 *
 * Throws 409 if the patient is not active, the waitlist entry is closed, or the patient has another appointment at that
 * time. Overbooking cannot override these conflicts.
 */
export async function overbookAppointment(
  request: TimedBooking & { readonly reason: string },
  call: ReadyCall,
  nowMs: number,
): Promise<ChangedAppointment> {
  const time = await lockTime(request, call, nowMs, true);
  const found = [...time.found, ...(time.isPatientBusyBeside ? [patientOverlap("startsAt")] : [])];
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

/** A locked time of a practitioner. `locked.slots` are the slots that the schedule has in it. */
interface LockedTime {
  readonly startMs: number;
  readonly minutes: number;
  readonly locationId: string;
  readonly locked: Locked;
  /** Whether the practitioner or the patient is busy during these slots. */
  readonly busy: BusyPeople;
  /** Whether the patient is busy during exactly the requested time. Always false unless overbooking is allowed. */
  readonly isPatientBusyBeside: boolean;
  readonly wait: Wait;
  readonly firstVisit: boolean;
  /** Conflicts of the patient and the waitlist entry. */
  readonly found: readonly FieldError[];
}

async function lockTime(request: TimedBooking, call: ReadyCall, nowMs: number, isBeside: boolean): Promise<LockedTime> {
  const startMs = startOf(request.startsAt, nowMs);
  const transaction = call.transaction;
  const begunSince = request.startsAt === undefined ? new Date(earliestStart(nowMs)) : undefined;
  const [{ horizonDays }, references, judged, slot] = await Promise.all([
    readMaterialization(transaction, request.programId),
    judgeReferences(request, call, nowMs),
    checkTarget(request, call),
    findSlotAt(transaction, request, { at: new Date(startMs), begunSince }),
  ]);
  requireStart(request, startMs, nowMs, horizonDays);
  const { patientId, practitionerId, serviceId, waitlistEntryId } = request;
  const minutes = request.durationMinutes ?? references.typeMinutes;
  const run = slot && { firstSlotId: slot.id, minutes };
  const programId = isBeside ? request.programId : undefined;
  const wanted = { programId, patient: { id: patientId }, waitlistEntryId, time: { practitionerId, run } };
  const on = { localDate: localDateAt(startMs) };
  const [locked, found, busy, isPatientBusyBeside, firstVisit, limits] = await Promise.all([
    lockInOrder(transaction, wanted),
    findTargetOffer(request, call),
    run === undefined ? nobodyBusy : findBusyInRun(transaction, run, { patientId }, { nowMs }),
    isBeside && isBusy(transaction, { patientId }, timeFrom(startMs, minutes), undefined, nowMs),
    isFirstVisit(transaction, { patientId, serviceId, on }),
    findBookingLimits(transaction, { patientId, serviceId, on }, nowMs),
  ]);
  const conflicting = requireBookable(request, locked, references, judged);
  const locationId = requireOffered(found, locked.isPractitionerActive);
  const people = { busy, isPatientBusyBeside, wait: references.wait, firstVisit };
  const reached = limitConflicts(limits, call.principal, "patientId");
  return { startMs, minutes, locationId, locked, ...people, found: [...conflicting, ...reached] };
}

/**
 * Takes the slots of the schedule at this time, like an ordinary booking. Returns undefined if this fails for a reason
 * that overbooking may override. Throws 409 if the patient is busy.
 */
async function tryOrdinary(
  { transaction }: ReadyCall,
  { locked: { slots }, minutes, locationId, busy }: LockedTime,
  nowMs: number,
): Promise<TakenSlots | undefined> {
  if (!fill(slots, minutes) || slots.some(({ appointmentId }) => appointmentId !== undefined)) return undefined;
  const placement = placementOf(slots, locationId);
  if (busy.isPatientBusy) throw conflicts([patientOverlap("startsAt")]);
  const day = countedDay(placement);
  if (busy.isPractitionerBusy || day === undefined) return undefined;
  return (await tryCapacity(transaction, day, nowMs)) ? { slots, placement } : undefined;
}

function bookSlots(
  request: TimedBooking,
  call: ReadyCall,
  { wait, firstVisit, locked }: LockedTime,
  { slots, placement }: TakenSlots,
  nowMs: number,
) {
  const appointment = {
    ...newAppointment(call, request, { ...placement, ...wait, firstVisit }, nowMs),
  };
  addAppointment(call, appointment);
  occupySlots(call.transaction, slots, appointment.id);
  closeServedEntry(call, locked.waitlistEntry, appointment);
  return appointment;
}

/** A placement outside the schedule. It has exactly the requested start and duration. */
function placementBeside(
  { programId, practitionerId }: TimedBooking,
  { startMs, minutes, locationId }: LockedTime,
): AppointmentPlacement {
  if (!isWithinOneDay(startMs, minutes)) {
    throw invalid(
      "durationMinutes",
      "INVALID_RANGE",
      `the appointment must end on the day on which it starts, in ${clinicTimeZone}`,
    );
  }
  const localDate = localDateAt(startMs);
  return { programId, ruleId: undefined, practitionerId, locationId, localDate, ...timeFrom(startMs, minutes) };
}

function timeFrom(startMs: number, minutes: number): Pick<AppointmentPlacement, "startsAt" | "endsAt"> {
  return { startsAt: new Date(startMs), endsAt: new Date(startMs + minutes * 60_000) };
}

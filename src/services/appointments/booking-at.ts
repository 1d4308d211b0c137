import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type CupoError, type FieldErrorCode, validationFailed } from "../../errors.js";
import type { AppointmentPlace, AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyInRun, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isBusy } from "../../postgres/tables/appointments/busy-times.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { tryCapacity } from "../../postgres/tables/capacities.js";
import { type Locked, lockInOrder } from "../../postgres/tables/locks.js";
import {
  findOccupiedSlots,
  findSlotAt,
  insertOwnSlot,
  occupySlots,
  retentionOf,
} from "../../postgres/tables/schedule/slots.js";
import { earliestStart, isBookableStart, isWithinOneDay, minuteOf } from "../../scheduling/booking-times.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import type { ChangedAppointment } from "./appointment-transitions.js";
import { addAppointment, newAppointment } from "./booking.js";
import { type BookingPlace, findTogether, judgePlace, requireTogether } from "./booking-place.js";
import { type BookingReferences, judgeReferences, requireUsable, type Wait } from "./booking-references.js";
import { closeServedEntry, requireServes } from "./served-entry.js";
import { fill, patientIsBusy, placeOf, requireFree, type TakenSlots, takeTime } from "./take-slots.js";

/** An appointment that is wanted with a practitioner at a time. */
export interface TimedBooking extends BookingPlace, BookingReferences {
  readonly patientId: string;
  /** Absent for now. */
  readonly startsAt?: Timestamp | undefined;
  /** Absent for what the type takes. */
  readonly durationMinutes?: number | undefined;
  /** The entry that the booking serves and closes. */
  readonly waitlistEntryId?: string | undefined;
}

/**
 * Books the free slots that a practitioner has at a time, as many as the appointment takes: 422 for a time at which there are
 * not so many, 409 where one is taken, the day is full or either person is expected elsewhere.
 */
export async function bookAppointmentAt(
  request: TimedBooking,
  call: ReadyCall,
  nowMs: number,
): Promise<AppointmentRecord> {
  const time = await lockTime(request, call, nowMs, false);
  const { slots } = time.locked;
  if (!fill(slots, time.minutes))
    throw invalid("startsAt", "INVALID_VALUE", "the practitioner has no slots for that long at that time");
  requireFree(slots, "startsAt");
  const place = placeOf(slots, time.locationId);
  takeTime(call.transaction, place, { busy: time.busy, heldDay: undefined }, "startsAt");
  return bookSlots(request, call, time, { slots, place }, nowMs);
}

/**
 * Books a time of a practitioner as {@link bookAppointmentAt} does where that is possible; else beside the schedule, in a slot
 * that is made for the appointment. That overlaps what the practitioner has and counts against no day. 409 where the patient
 * is expected elsewhere, which nothing waives.
 */
export async function overbookAppointment(
  request: TimedBooking & { readonly reason: string },
  call: ReadyCall,
  nowMs: number,
): Promise<ChangedAppointment> {
  const time = await lockTime(request, call, nowMs, true);
  const ordinary = await tryOrdinary(call, time);
  if (ordinary !== undefined) {
    return { appointment: bookSlots(request, call, time, ordinary, nowMs), retention: undefined };
  }
  const place = placeBeside(request, time);
  if (time.isPatientBusyBeside) throw patientIsBusy("startsAt");
  const overbooked = { overbooked: true, overbookingReason: request.reason };
  const appointment = {
    ...newAppointment(call, request, { ...place, ...time.wait }, nowMs),
    ...begun(place, nowMs),
    ...overbooked,
  };
  addAppointment(call, appointment);
  closeServedEntry(call, time.locked.waitlistEntry, appointment);
  insertOwnSlot(call.transaction, call.newId(), appointment, true);
  return { appointment, retention: retentionOf(await findOccupiedSlots(call.transaction, appointment.id)) };
}

/** A time that is locked, with the slots of the rules in it. */
interface LockedTime {
  readonly startMs: number;
  readonly minutes: number;
  readonly locationId: string;
  readonly locked: Locked;
  /** In the time of the slots. */
  readonly busy: BusyPeople;
  /** In just the time that was asked for, where it may be beside the schedule. */
  readonly isPatientBusyBeside: boolean;
  readonly wait: Wait;
}

async function lockTime(request: TimedBooking, call: ReadyCall, nowMs: number, isBeside: boolean): Promise<LockedTime> {
  const startMs = requireStart(request, nowMs);
  const transaction = call.transaction;
  const begunSince = request.startsAt === undefined ? new Date(earliestStart(nowMs)) : undefined;
  const [references, judged, slot] = await Promise.all([
    judgeReferences(request, call, nowMs),
    judgePlace(request, call),
    findSlotAt(transaction, request, { at: new Date(startMs), begunSince }),
  ]);
  const { patientId, programId, practitionerId, serviceId, waitlistEntryId } = request;
  const minutes = request.durationMinutes ?? references.typeMinutes;
  const run = slot && { firstSlotId: slot.id, minutes };
  const wanted = {
    programId: isBeside ? programId : undefined,
    patient: { id: patientId },
    waitlistEntryId,
    time: { practitionerId, run },
  };
  const [locked, found, busy, isPatientBusyBeside] = await Promise.all([
    lockInOrder(transaction, wanted),
    findTogether(request, call),
    run === undefined ? nobodyBusy : findBusyInRun(transaction, run, { patientId }),
    isBeside && isBusy(transaction, { patientId }, timeFrom(startMs, minutes), undefined),
  ]);
  const inactive = [...references.inactive, ...judged.inactive];
  requireUsable(locked, { missing: [...references.missing, ...judged.missing], inactive }, waitlistEntryId);
  requireServes(locked.waitlistEntry, patientId, serviceId);
  return {
    startMs,
    minutes,
    locationId: requireTogether(found, locked.isPractitionerActive),
    locked,
    busy,
    isPatientBusyBeside,
    wait: references.wait,
  };
}

/** The slots of the rules at the time, taken; undefined where any of what an overbooking waives stands against it. */
async function tryOrdinary(
  { transaction }: ReadyCall,
  { locked: { slots }, minutes, locationId, busy }: LockedTime,
): Promise<TakenSlots | undefined> {
  if (!fill(slots, minutes) || slots.some(({ appointmentId }) => appointmentId !== undefined)) return undefined;
  const place = placeOf(slots, locationId);
  if (busy.isPatientBusy) throw patientIsBusy("startsAt");
  const day = countedDay(place);
  if (busy.isPractitionerBusy || day === undefined) return undefined;
  return (await tryCapacity(transaction, day)) ? { slots, place } : undefined;
}

function bookSlots(
  request: TimedBooking,
  call: ReadyCall,
  { wait, locked }: LockedTime,
  { slots, place }: TakenSlots,
  nowMs: number,
) {
  const appointment = { ...newAppointment(call, request, { ...place, ...wait }, nowMs), ...begun(place, nowMs) };
  addAppointment(call, appointment);
  occupySlots(call.transaction, slots, appointment.id);
  closeServedEntry(call, locked.waitlistEntry, appointment);
  return appointment;
}

/** A time beside the schedule: from the minute that was asked for, for just as long. */
function placeBeside(
  { programId, practitionerId }: TimedBooking,
  { startMs, minutes, locationId }: LockedTime,
): AppointmentPlace {
  if (!isWithinOneDay(startMs, minutes)) {
    throw invalid("durationMinutes", "INVALID_RANGE", "the appointment must end on the day it begins on");
  }
  const localDate = localDateAt(startMs);
  return { programId, ruleId: undefined, practitionerId, locationId, localDate, ...timeFrom(startMs, minutes) };
}

function timeFrom(startMs: number, minutes: number): Pick<AppointmentPlace, "startsAt" | "endsAt"> {
  return { startsAt: new Date(startMs), endsAt: new Date(startMs + minutes * 60_000) };
}

/** An appointment that has begun when it is booked is confirmed by that: the patient is there. */
function begun({ startsAt }: AppointmentPlace, nowMs: number): Pick<AppointmentRecord, "status"> {
  return { status: startsAt.getTime() <= nowMs ? "CONFIRMED" : "PENDING" };
}

function requireStart({ startsAt }: TimedBooking, nowMs: number): number {
  if (startsAt === undefined) return minuteOf(nowMs);
  const startMs = timestampMs(startsAt);
  if (isBookableStart(startMs, nowMs)) return startMs;
  const message = "the value must be a whole minute, not long ago and not behind the end of the schedules";
  throw invalid("startsAt", "OUT_OF_RANGE", message);
}

function invalid(field: string, code: FieldErrorCode, message: string): CupoError {
  return validationFailed([{ code, field, message }]);
}

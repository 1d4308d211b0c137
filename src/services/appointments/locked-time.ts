import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import type { FieldError } from "../../errors.js";
import type { AppointmentPlacement } from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyInRun, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isBusy } from "../../postgres/tables/appointments/busy-times.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { tryCapacity } from "../../postgres/tables/capacities.js";
import { type Locked, lockInOrder } from "../../postgres/tables/locks.js";
import { readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import { findSlotAt } from "../../postgres/tables/schedule/slots.js";
import { findBookingLimits } from "../../postgres/tables/settings/booking-limits.js";
import { earliestStart, isWithinOneDay } from "../../scheduling/booking-times.js";
import { clinicTimeZone, localDateAt } from "../../scheduling/local-clock.js";
import { limitConflicts } from "./appointment-preconditions.js";
import {
  type BookingReferences,
  judgeReferences,
  requireBookable,
  type VisitLength,
  withBuffer,
} from "./booking-references.js";
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
import { fill, placementOf, type TakenSlots } from "./take-slots.js";

/** A request for an appointment with a practitioner at a given time. */
export interface TimedBooking extends BookingTarget, BookingReferences, GivenWait {
  readonly patientId: string;
  /**
   * Defaults to the current minute. With this default, the appointment can also take a slot that began at most 15
   * minutes earlier and has not ended.
   */
  readonly startsAt?: Timestamp | undefined;
  /** Defaults to the duration of the appointment type. */
  readonly durationMinutes?: number | undefined;
}

/**
 * The current time, and the kind of a booking:
 * - SCHEDULED takes slots of the schedule.
 * - OVERBOOKED can also have a time outside the schedule.
 * - LATE records a past visit, inside or outside the schedule.
 */
export interface TimedTerms {
  readonly nowMs: number;
  readonly kind: "SCHEDULED" | "OVERBOOKED" | "LATE";
}

/**
 * The locked rows and the data for a booking at a given time. `locked.slots` are the slots of the schedule at that
 * time.
 */
export interface LockedTime {
  readonly startMs: number;
  /** Minutes of the visit without the buffer after it. */
  readonly durationMinutes: number;
  /** The length that the slots must cover: the visit and the buffer. A past visit (LATE) has no buffer. */
  readonly length: VisitLength;
  readonly locationId: string;
  readonly locked: Locked;
  /**
   * Whether the practitioner and the patient are busy during `locked.slots`. For the patient, the time ends with the
   * visit: the buffer does not count. Without slots, both values are false.
   */
  readonly busy: BusyPeople;
  /**
   * Whether the practitioner and the patient are busy during exactly the requested time. LATE checks both,
   * OVERBOOKED only the patient, and SCHEDULED nobody. The value of a person who is not checked is false.
   */
  readonly beside: BusyPeople;
  readonly wait: Wait;
  readonly firstVisit: boolean;
  /** The conflicts of the patient, the waitlist entry and the limits of the tenant. */
  readonly found: readonly FieldError[];
}

/**
 * Locks the rows that a booking at a given time needs. Returns them with the data to check the booking.
 *
 * Throws:
 * - 404 for references that do not exist
 * - 422 if a reference is not active, or references do not belong together
 * - 422 if a date is out of range; for LATE, the day of the visit counts as today
 * - 422 if the start cannot be booked, except for LATE
 *
 * `found` names each limit of the tenant that the patient has reached, except for LATE.
 */
export async function lockTime(request: TimedBooking, call: ReadyCall, terms: TimedTerms): Promise<LockedTime> {
  const { nowMs, kind } = terms;
  const startMs = startOf(request.startsAt, nowMs);
  const transaction = call.transaction;
  const begunSince = request.startsAt === undefined ? new Date(earliestStart(nowMs)) : undefined;
  const [{ horizonDays }, references, judged, slot] = await Promise.all([
    readMaterialization(transaction, request.programId),
    judgeReferences(request, call, kind === "LATE" ? startMs : nowMs),
    checkTarget(request, call),
    findSlotAt(transaction, request, { at: new Date(startMs), begunSince }),
  ]);
  if (kind !== "LATE") requireStart(request, startMs, nowMs, horizonDays);
  const { patientId, practitionerId, serviceId, waitlistEntryId } = request;
  const durationMinutes = request.durationMinutes ?? references.typeMinutes;
  const length = withBuffer(durationMinutes, kind === "LATE" ? 0 : references.bufferMinutes);
  const { visitMinutes } = length;
  const run = slot && { firstSlotId: slot.id, minutes: length.minutes };
  const programId = kind === "SCHEDULED" ? undefined : request.programId;
  const wanted = { programId, patient: { id: patientId }, waitlistEntryId, time: { practitionerId, run } };
  const on = { localDate: localDateAt(startMs) };
  const [locked, found, busy, beside, firstVisit, limits] = await Promise.all([
    lockInOrder(transaction, wanted),
    findTargetOffer(request, call),
    run === undefined ? nobodyBusy : findBusyInRun(transaction, run, { patientId }, { nowMs, visitMinutes }),
    findBusyBeside(request, call, timeFrom(startMs, durationMinutes), terms),
    isFirstVisit(transaction, { patientId, serviceId, on }),
    kind === "LATE" ? undefined : findBookingLimits(transaction, { patientId, serviceId, on }, nowMs),
  ]);
  const conflicting = requireBookable(request, locked, references, judged);
  const locationId = requireOffered(found, locked.isPractitionerActive);
  const people = { busy, beside, wait: references.wait, firstVisit };
  const reached = limits === undefined ? [] : limitConflicts(limits, call.principal, "patientId");
  return { startMs, durationMinutes, length, locationId, locked, ...people, found: [...conflicting, ...reached] };
}

async function findBusyBeside(
  { patientId, practitionerId }: TimedBooking,
  { transaction }: ReadyCall,
  time: Pick<AppointmentPlacement, "startsAt" | "endsAt">,
  { nowMs, kind }: TimedTerms,
): Promise<BusyPeople> {
  const [isPatientBusy, isPractitionerBusy] = await Promise.all([
    kind !== "SCHEDULED" && isBusy(transaction, { patientId }, time, undefined, nowMs),
    kind === "LATE" && isBusy(transaction, { practitionerId }, time, undefined, nowMs),
  ]);
  return { isPatientBusy, isPractitionerBusy };
}

/**
 * Tries to take one unit of the day's capacity for a booking in the slots of the schedule. Returns the slots and the
 * placement: the appointment's program, rule, practitioner, location, date and times. Takes nothing and returns
 * undefined in these cases:
 * - The slots do not cover the visit and its buffer, or an appointment occupies one of them.
 * - The patient or the practitioner is busy in these slots. They can be longer than the visit.
 * - The day has no capacity left.
 */
export async function tryOrdinary(
  { transaction }: ReadyCall,
  { locked: { slots }, length: { minutes, visitMinutes }, locationId, busy }: LockedTime,
  nowMs: number,
): Promise<TakenSlots | undefined> {
  if (!fill(slots, minutes) || slots.some(({ appointmentId }) => appointmentId !== undefined)) return undefined;
  if (busy.isPatientBusy || busy.isPractitionerBusy) return undefined;
  const placement = placementOf(slots, locationId, visitMinutes);
  const day = countedDay(placement);
  if (day === undefined) return undefined;
  return (await tryCapacity(transaction, day, nowMs)) ? { slots, placement } : undefined;
}

/**
 * Returns a placement outside the schedule. It has exactly the requested start and duration, and no buffer. Throws 422
 * if it does not end on the day of its start.
 */
export function placementBeside(
  { programId, practitionerId }: TimedBooking,
  { startMs, durationMinutes: minutes, locationId }: LockedTime,
): AppointmentPlacement {
  if (!isWithinOneDay(startMs, minutes)) {
    throw invalid(
      "durationMinutes",
      "INVALID_RANGE",
      `the appointment must end on the day on which it starts, in ${clinicTimeZone}`,
    );
  }
  const localDate = localDateAt(startMs);
  const place = { programId, ruleId: undefined, practitionerId, locationId, localDate, visitEndsAt: undefined };
  return { ...place, ...timeFrom(startMs, minutes) };
}

function timeFrom(startMs: number, minutes: number): Pick<AppointmentPlacement, "startsAt" | "endsAt"> {
  return { startsAt: new Date(startMs), endsAt: new Date(startMs + minutes * 60_000) };
}

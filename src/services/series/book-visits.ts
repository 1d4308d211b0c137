import type { ReadyCall } from "../../call.js";
import { type FieldError, unknownReferences, validationFailed } from "../../errors.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyInRun, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { type LockedTimes, lockTimesInOrder } from "../../postgres/tables/locks-together.js";
import { occupySlots } from "../../postgres/tables/schedule/slots.js";
import {
  type BookingLimits,
  type CountedLimit,
  findBookingLimits,
} from "../../postgres/tables/settings/booking-limits.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { inactivePatient, limitConflicts } from "../appointments/appointment-preconditions.js";
import { addAppointment, type BookedVisit, newAppointment } from "../appointments/booking.js";
import { absentOf, type JudgedReferences } from "../appointments/booking-references.js";
import {
  type BookingTarget,
  findTargetOffer,
  requireOffered,
  type TargetErrors,
} from "../appointments/booking-target.js";
import type { Wait } from "../appointments/booking-wait.js";
import { closedEntry, closeServedEntry, misfitOf } from "../appointments/served-entry.js";
import type { TakenSlots } from "../appointments/take-slots.js";
import { type FoundPlace, findPlaces, judgePlace, runsOf, takePlaces, type WantedPlace } from "./take-places.js";

/** One of several visits with a practitioner. A call books all of them, or none. */
export interface WantedVisit extends BookedVisit, WantedPlace {
  readonly waitlistEntryId?: string | undefined;
  readonly wait: Wait;
  readonly seriesId?: string;
  /** The references of this visit in the request. Undefined if the visit shares the references of an earlier visit. */
  readonly stated: StatedReferences | undefined;
}

/**
 * The result of checking the appointment type, the payer and the other references of a visit. `path` is the prefix of
 * their fields in the request: "" or, for example, `visits[1].`. The field `requestSourceId` has no prefix.
 */
export interface StatedReferences {
  readonly path: string;
  readonly references: JudgedReferences;
}

/**
 * The practitioner, program and service of the visits. `errors` has one item for each of them that does not exist or is
 * not active. The program can be booked for `horizonDays` days after today.
 */
export interface VisitsTarget {
  readonly target: BookingTarget;
  readonly errors: TargetErrors;
  readonly horizonDays: number;
}

/** A visit with the data that is read after its rows are locked. */
interface ReadVisit {
  readonly visit: WantedVisit & FoundPlace;
  readonly localDate: string;
  readonly busy: BusyPeople;
  readonly firstVisit: boolean;
  readonly limits: BookingLimits;
}

/**
 * Books visits in their order: all of them, or none. Returns the new appointments. For any number of visits, waits for
 * three round trips, or for four if the tenant limits bookings.
 *
 * Throws, in this order:
 * - 404 with all references that do not exist
 * - 422 with all references and dates that cannot be used
 * - 422 if the program does not offer the service, or the practitioner does not work in the program
 * - 409 with all conflicts of patients, waitlist entries, times, capacities and limits
 */
export async function bookVisits(
  wanted: readonly WantedVisit[],
  { target, errors, horizonDays }: VisitsTarget,
  call: ReadyCall,
  nowMs: number,
): Promise<readonly AppointmentRecord[]> {
  const { transaction } = call;
  const found = await findPlaces(transaction, wanted, new Map([[target.programId, horizonDays]]), nowMs);
  const [locked, offered, visits] = await Promise.all([
    lockTimesInOrder(transaction, {
      patientIds: found.map(({ patientId }) => patientId),
      waitlistEntryIds: found.map(({ waitlistEntryId }) => waitlistEntryId).filter((id) => id !== undefined),
      runs: runsOf(found),
      practitionerIds: [target.practitionerId],
    }),
    findTargetOffer(target, call),
    Promise.all(found.map((visit) => readVisit(visit, call, nowMs))),
  ]);
  const conflicting = requireSubjects(found, locked, errors);
  const locationId = requireOffered(offered, locked.activePractitioners.has(target.practitionerId));
  const places = countOneAfterTheOther(visits, nowMs).map((read) => judgeVisit(read, locked, locationId, call));
  const all = await takePlaces(transaction, places, conflicting, nowMs);
  return all.map(({ read, taken }) => book(read, taken, locked, call, nowMs));
}

/** Returns the slots and the conflicts of a visit, and the visit itself. */
function judgeVisit(read: ReadVisit, locked: LockedTimes, locationId: string, { principal }: ReadyCall) {
  const { visit, busy, limits } = read;
  const place = judgePlace(visit, locked, { locationId, busy });
  return { ...place, read, found: [...limitConflicts(limits, principal, visit.field), ...place.found] };
}

async function readVisit(visit: WantedVisit & FoundPlace, call: ReadyCall, nowMs: number): Promise<ReadVisit> {
  const { transaction } = call;
  const { patientId, serviceId, run, visitMinutes } = visit;
  const localDate = localDateAt(visit.startMs);
  const [busy, firstVisit, limits] = await Promise.all([
    run === undefined ? nobodyBusy : findBusyInRun(transaction, run, { patientId }, { nowMs, visitMinutes }),
    isFirstVisit(transaction, { patientId, serviceId, on: { localDate } }),
    findBookingLimits(transaction, { patientId, serviceId, on: { localDate } }, nowMs),
  ]);
  return { visit, localDate, busy, firstVisit, limits };
}

/**
 * Returns a conflict for each patient who is not active and each waitlist entry that is closed. Throws 404 with all
 * resources that do not exist, or 422 with all resources and dates that cannot be used.
 */
function requireSubjects(
  visits: readonly WantedVisit[],
  { patients, waitlistEntries }: LockedTimes,
  target: TargetErrors,
): FieldError[] {
  const subjects = visits.flatMap(({ stated, patientId, serviceId, waitlistEntryId }) => {
    if (stated === undefined) return [];
    const { path, references } = stated;
    const patient = patients.get(patientId);
    const waitlistEntry = waitlistEntryId === undefined ? undefined : waitlistEntries.get(waitlistEntryId);
    const absent = absentOf({ patient, waitlistEntry }, references.missing, waitlistEntryId);
    const misfits = misfitOf(waitlistEntry, patientId, serviceId);
    const conflicting = [...inactivePatient(patient, "patientId"), ...closedEntry(waitlistEntry)];
    return [
      {
        absent: at(path, absent),
        unusable: at(path, [...references.unusable, ...misfits]),
        conflicting: at(path, conflicting),
      },
    ];
  });
  const absent = once([...subjects.flatMap((subject) => subject.absent), ...target.missing]);
  if (absent.length > 0) throw unknownReferences(absent);
  const unusable = once([...subjects.flatMap((subject) => subject.unusable), ...target.inactive]);
  if (unusable.length > 0) throw validationFailed(unusable);
  return subjects.flatMap((subject) => subject.conflicting);
}

function at(path: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map((error) => (error.field === SHARED ? error : { ...error, field: `${path}${error.field}` }));
}

/** The field of the reference that all visits of a request share. */
const SHARED = "requestSourceId";

function once(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [error.field, error])).values()];
}

/**
 * Returns the visits, adjusted as if the earlier visits of the same patient in this call were already booked:
 * - The counts of the limits include the earlier visits. A visit that has begun counts only for its day.
 * - `firstVisit` becomes false if an earlier visit is in the same calendar year.
 * - The limit of no-shows is checked only for the earliest of a patient's visits, so that an error names it once.
 */
function countOneAfterTheOther(visits: readonly ReadVisit[], nowMs: number): readonly ReadVisit[] {
  return visits.map((read, index) => {
    const earlier = visits.slice(0, index).filter(({ visit }) => visit.patientId === read.visit.patientId);
    const { ahead, ofService, onDay, noShows } = read.limits;
    const future = earlier.filter(({ visit }) => visit.startMs > nowMs).length;
    const isYearTaken = earlier.some(({ localDate }) => localDate.slice(0, 4) === read.localDate.slice(0, 4));
    const limits = {
      ahead: more(ahead, future),
      ofService: more(ofService, future),
      onDay: more(onDay, earlier.filter(({ localDate }) => localDate === read.localDate).length),
      noShows: earlier.length === 0 ? noShows : undefined,
    };
    return { ...read, limits, firstVisit: read.firstVisit && !isYearTaken };
  });
}

function more(limit: CountedLimit | undefined, visits: number): CountedLimit | undefined {
  return limit && { ...limit, count: limit.count + visits };
}

function book(
  { visit, firstVisit }: ReadVisit,
  { slots, placement }: TakenSlots,
  { waitlistEntries }: LockedTimes,
  call: ReadyCall,
  nowMs: number,
): AppointmentRecord {
  const { wait, waitlistEntryId, seriesId } = visit;
  const appointment = { ...newAppointment(call, visit, { ...placement, ...wait, firstVisit }, nowMs), seriesId };
  addAppointment(call, appointment);
  occupySlots(call.transaction, slots, appointment.id);
  if (waitlistEntryId !== undefined) closeServedEntry(call, waitlistEntries.get(waitlistEntryId), appointment);
  return appointment;
}

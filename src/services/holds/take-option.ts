import type { ReadyCall, Transaction } from "../../call.js";
import { conflict, type FieldError } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import { type AppointmentPlacement, visitMinutesOf } from "../../postgres/tables/appointments/appointments.js";
import { type BusySubject, findBusyInRun } from "../../postgres/tables/appointments/busy-people.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { findOffer } from "../../postgres/tables/appointments/offers.js";
import { holdUnit, isSameDay } from "../../postgres/tables/capacities.js";
import { requireHolder } from "../../postgres/tables/holds/hold-holders.js";
import { countLiveHolds, endExpiredHolds, type HoldRecord, insertHold } from "../../postgres/tables/holds/holds.js";
import { type Locked, lockInOrder, runOf } from "../../postgres/tables/locks.js";
import { findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import {
  type BookingLimits,
  findBookingLimits,
  findMoveLimits,
  type MoveLimits,
} from "../../postgres/tables/settings/booking-limits.js";
import {
  inactivePatient,
  type LateChange,
  limitConflicts,
  requireInTime,
  requireMovable,
} from "../appointments/appointment-preconditions.js";
import { requireLength } from "../appointments/booking-references.js";
import { closedEntry } from "../appointments/served-entry.js";
import { offeredAt, requireSlots } from "../appointments/take-slots.js";
import { capacityExhausted, isAny, optionGone, refusalOf } from "../appointments/time-conflicts.js";

/** How many live holds a principal may have, how long a hold lasts, and the current time. */
export interface HoldTerms {
  /** Maximum number of live holds that the principal may have. Undefined for an offer, which does not count. */
  readonly perPrincipal: number | undefined;
  /** The waitlist entry that receives the offer. The entry must be open. Undefined if the hold is not an offer. */
  readonly waitlistEntryId?: string;
  readonly minutes: number;
  readonly nowMs: number;
}

/** A new hold, and the option that it holds. */
export interface HeldOption {
  readonly hold: HoldRecord;
  readonly option: OptionClaims;
}

/** The parts of a call that {@link takeOption} needs. */
export type HoldingCall = Pick<ReadyCall, "transaction" | "principal" | "newId" | "effects">;

/**
 * Returns the error to throw in place of `error`. Called for errors of the option itself: it is gone, its time is
 * taken, its practitioner or patient is busy then, or its day is full. Not called for other errors of the patient or
 * the appointment.
 */
export type Judge = (error: unknown) => unknown;

const FIELD = "optionToken";

/** The maximum number of holds that a patient may have at a time. Ended and expired holds do not count. */
export const MAX_OF_PATIENT = 3;

/** Returns the subject of an option: the patient of a booking, or the appointment to move. */
export function subjectOf({ subject: { kind, id } }: OptionClaims): BusySubject {
  return kind === "PATIENT" ? { patientId: id } : { appointmentId: id };
}

/** Returns the rows that {@link lockInOrder} locks: a booking's patient, or the appointment to move and its patient. */
export function locksOf(subject: BusySubject) {
  return "patientId" in subject ? { patient: { id: subject.patientId } } : { patient: subject, ...subject };
}

/**
 * Locks an option in the order of `lockInOrder`, holds it, and returns the hold. `judge` converts errors of the option
 * itself, such as a taken slot.
 *
 * Throws, in this order:
 * - 409 with one conflict if the appointment cannot be moved, or no longer in time
 * - 422 if the appointment has become longer than the option
 * - 410 if the patient of a booking or the appointment to move no longer exists
 * - if the option is gone ({@link requireSlots}): 409 if the patient is not active or the waitlist entry is closed,
 *   otherwise 410
 * - 409 with all conflicts of the patient, the waitlist entry, the limits and the time
 *
 * Otherwise, the RPC fails later with 409 if the principal has too many holds, or if the day has no capacity left.
 */
export async function takeOption(
  option: OptionClaims,
  call: HoldingCall,
  terms: HoldTerms,
  judge: Judge,
): Promise<HeldOption> {
  const { transaction, principal } = call;
  const { nowMs } = terms;
  const { locked, offer, busy, occupiedSlots, live, limits } = await lockOption(option, call, terms);
  const change = { principal, slots: occupiedSlots, nowMs, field: FIELD };
  const { patientId, found, reached } = requireSubject(locked, live, limits, change);
  if (locked.appointment !== undefined) requireLength(option, locked.appointment, occupiedSlots);
  const visitMinutes = locked.appointment === undefined ? option.visitMinutes : visitMinutesOf(locked.appointment);
  const { placement, conflicting } = judged(isAny(found) ? (error) => error : judge, () =>
    requireSlots(option, { locked, offer, busy, visitMinutes }, occupiedSlots, nowMs, found),
  );
  const day = countedDay(placement);
  const usesUnit = !isSameDay(day, countedDay(occupiedSlots[0]));
  const ofPatient = [...found, ...reached];
  const all = [...ofPatient, ...conflicting];
  if (isAny(all)) {
    const unit = usesUnit ? day : undefined;
    const refusal = await refusalOf(transaction, all, { day: unit, nowMs, named: "ALL" }, FIELD);
    throw isAny(ofPatient) ? refusal : judge(refusal);
  }
  const hold = newHold(call, option, { ...placement, patientId, usesUnit }, terms);
  endExpiredHolds(transaction, hold, nowMs);
  if (usesUnit) {
    const exhausted = () => judge(conflict(capacityExhausted(FIELD)));
    holdUnit(transaction, hold, { nowMs, until: hold.expiresAt }, exhausted);
  }
  countForPrincipal(transaction, hold, terms);
  insertHold(transaction, hold);
  call.effects.push({ resourceType: "AppointmentHold", resourceId: hold.id, action: "CREATE" });
  return { hold, option };
}

/** Locks an option in the order of `lockInOrder`, and reads the data that decide whether it can be held. */
async function lockOption(option: OptionClaims, { transaction, principal }: HoldingCall, terms: HoldTerms) {
  const { nowMs, waitlistEntryId } = terms;
  const subject = subjectOf(option);
  const [locked, offer, busy, occupiedSlots, live, limits] = await Promise.all([
    lockInOrder(transaction, { ...locksOf(subject), waitlistEntryId, option }),
    findOffer(transaction, principal, option, offeredAt(option, nowMs)),
    findBusyInRun(transaction, runOf(option), subject, { nowMs, visitMinutes: option.visitMinutes }),
    "patientId" in subject ? [] : findOccupiedSlots(transaction, subject.appointmentId),
    countLiveHolds(transaction, subject, nowMs),
    findLimits(transaction, option, subject, terms),
  ]);
  return { locked, offer, busy, occupiedSlots, live, limits };
}

/** The tenant's limits on bookings and moves of a patient. */
type Limits = Partial<BookingLimits & MoveLimits>;

/** Returns the tenant's limits for a booking or move. None for an offered slot: they are checked when it is booked. */
async function findLimits(
  transaction: Transaction,
  { serviceId, slotId }: OptionClaims,
  subject: BusySubject,
  { waitlistEntryId, nowMs }: HoldTerms,
): Promise<Limits> {
  if (waitlistEntryId !== undefined) return {};
  if ("appointmentId" in subject) return findMoveLimits(transaction, subject.appointmentId, slotId);
  return findBookingLimits(transaction, { ...subject, serviceId, on: { slotId } }, nowMs);
}

/** Counts a hold, unless it is an offer. The RPC fails with 409 if the principal has reached its limit of holds. */
function countForPrincipal(
  transaction: Transaction,
  hold: HoldRecord,
  { perPrincipal: limit, nowMs }: HoldTerms,
): void {
  if (limit === undefined) return;
  requireHolder(transaction, hold, { nowMs, limit }, () => conflict(tooMany(`the client has ${limit}`)));
}

/**
 * Returns the patient's id and the conflicts: an inactive patient or a closed waitlist entry (`found`), and a reached
 * limit of the tenant or too many holds (`reached`). `live` counts the patient's live holds. Throws 409 if the
 * appointment cannot be moved, or starts too soon for a move by this caller. Throws 410 if the patient of a booking or
 * the appointment to move does not exist.
 */
function requireSubject(
  { patient, appointment, waitlistEntry }: Locked,
  live: number,
  limits: Limits,
  change: LateChange,
) {
  if (appointment !== undefined) {
    requireMovable(appointment, patient, FIELD, change.nowMs);
    requireInTime(appointment, "be rescheduled", limits.latestHours, change);
  }
  if (patient === undefined) throw optionGone();
  const found = [...inactivePatient(patient, FIELD), ...closedEntry(waitlistEntry)];
  const reached = limitConflicts(limits, change.principal, FIELD);
  if (live >= MAX_OF_PATIENT) reached.push(tooMany(`the patient has ${live}`));
  return { patientId: patient.id, found, reached };
}

function judged<T>(judge: Judge, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw judge(error);
  }
}

/** Returns the record of a new hold. The hold expires at the start of its slot at the latest. */
function newHold(
  call: HoldingCall,
  { subject, serviceId, slotId }: OptionClaims,
  { ruleId, ...time }: AppointmentPlacement & Pick<HoldRecord, "patientId" | "usesUnit">,
  { minutes, nowMs, waitlistEntryId }: HoldTerms,
): HoldRecord {
  if (ruleId === undefined) throw new Error("a slot of the schedule must have a rule");
  return {
    ...time,
    ruleId,
    id: call.newId(),
    appointmentId: subject.kind === "APPOINTMENT" ? subject.id : undefined,
    serviceId,
    slotId,
    principal: call.principal.id,
    expiresAt: new Date(Math.min(nowMs + minutes * 60_000, time.startsAt.getTime())),
    endedAt: undefined,
    bookedAppointmentId: undefined,
    waitlistEntryId,
    createdAt: new Date(nowMs),
  };
}

function tooMany(count: string): FieldError {
  return { code: "HOLD_LIMIT", field: FIELD, message: `${count} live holds: release or book one of them` };
}

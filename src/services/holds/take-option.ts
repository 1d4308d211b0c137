import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { AppointmentPlacement } from "../../postgres/tables/appointments/appointments.js";
import { type BusySubject, findBusyInRun } from "../../postgres/tables/appointments/busy-people.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import { findOffer } from "../../postgres/tables/appointments/offers.js";
import { holdUnit, isSameDay } from "../../postgres/tables/capacities.js";
import { requireHolder } from "../../postgres/tables/holds/hold-holders.js";
import { countLiveHolds, endExpiredHolds, type HoldRecord, insertHold } from "../../postgres/tables/holds/holds.js";
import { type Locked, lockInOrder, runOf } from "../../postgres/tables/locks.js";
import { findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { requireActive, requireMovable } from "../appointments/appointment-preconditions.js";
import { capacityExhausted, offeredAt, optionGone, requireSlots } from "../appointments/take-slots.js";

/** How many options a principal can hold, for how long this one is held, and the time of the call. */
export interface HoldTerms {
  readonly perPrincipal: number;
  readonly minutes: number;
  readonly nowMs: number;
}

/** A new hold, and the option that it holds. */
export interface HeldOption {
  readonly hold: HoldRecord;
  readonly option: OptionClaims;
}

/** Returns what to throw for an error about the option itself. */
export type Judge = (error: unknown) => unknown;

/** The highest number of live holds of a patient. */
const MAX_OF_PATIENT = 3;

/** Returns who is to be booked or moved by an option. */
export function subjectOf({ subject: { kind, id } }: OptionClaims): BusySubject {
  return kind === "PATIENT" ? { patientId: id } : { appointmentId: id };
}

/** Returns the rows of a subject to lock. */
export function locksOf(subject: BusySubject) {
  return "patientId" in subject ? { patient: { id: subject.patientId } } : { patient: subject, ...subject };
}

/** Locks an option in the ordinary order and holds it. Errors about the option itself go through `judge`. */
export async function takeOption(
  option: OptionClaims,
  call: ReadyCall,
  terms: HoldTerms,
  judge: Judge,
): Promise<HeldOption> {
  const { transaction, principal } = call;
  const { nowMs, perPrincipal: limit } = terms;
  const subject = subjectOf(option);
  const [locked, offer, busy, occupiedSlots, live] = await Promise.all([
    lockInOrder(transaction, { ...locksOf(subject), option }),
    findOffer(transaction, principal, option, offeredAt(option, nowMs)),
    findBusyInRun(transaction, runOf(option), subject, { nowMs }),
    "patientId" in subject ? [] : findOccupiedSlots(transaction, subject.appointmentId),
    countLiveHolds(transaction, subject, nowMs),
  ]);
  const patientId = requireSubject(locked, nowMs);
  if (live >= MAX_OF_PATIENT) throw tooMany(`the patient has ${live} live holds: release or book one of them`);
  const { placement } = judged(judge, () => requireSlots(option, { locked, offer, busy }, occupiedSlots, nowMs));
  const usesUnit = !isSameDay(countedDay(placement), countedDay(occupiedSlots[0]));
  const hold = newHold(call, option, { ...placement, patientId, usesUnit }, terms);
  endExpiredHolds(transaction, hold, nowMs);
  if (usesUnit) {
    const exhausted = () => judge(capacityExhausted("optionToken"));
    holdUnit(transaction, hold, { nowMs, until: hold.expiresAt }, exhausted);
  }
  requireHolder(transaction, hold, { nowMs, limit }, () =>
    tooMany(`the client has ${limit} live holds: release or book one of them`),
  );
  insertHold(transaction, hold);
  call.effects.push({ resourceType: "AppointmentHold", resourceId: hold.id, action: "CREATE" });
  return { hold, option };
}

/** Returns the patient of the locked subject. Throws 409 if nothing can be booked or moved for it. */
function requireSubject({ patient, appointment }: Locked, nowMs: number): string {
  if (appointment === undefined) requireActive(patient, "optionToken");
  else requireMovable(appointment, patient, "optionToken", nowMs);
  if (patient === undefined) throw optionGone();
  return patient.id;
}

function judged<T>(judge: Judge, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw judge(error);
  }
}

/** The hold ends when its slot begins, at the latest. */
function newHold(
  call: ReadyCall,
  { subject, serviceId, slotId }: OptionClaims,
  { ruleId, ...time }: AppointmentPlacement & Pick<HoldRecord, "patientId" | "usesUnit">,
  { minutes, nowMs }: HoldTerms,
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
    createdAt: new Date(nowMs),
  };
}

function tooMany(message: string): CupoError {
  return conflict({ code: "HOLD_LIMIT", field: "optionToken", message });
}

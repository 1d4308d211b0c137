import type { ReadyCall } from "../../call.js";
import {
  type AppointmentPlacement,
  type AppointmentRecord,
  visitEndOf,
} from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyBeside, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { findOffer, type Offer } from "../../postgres/tables/appointments/offers.js";
import { type LockedTimes } from "../../postgres/tables/locks-together.js";
import { findMoveLimits, type MoveLimits } from "../../postgres/tables/settings/booking-limits.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { lateConflicts, roomConflicts } from "../appointments/appointment-preconditions.js";
import { timeConflicts } from "../appointments/time-conflicts.js";
import { slotsHeldBy } from "./series-appointments.js";
import { type FoundPlace, type JudgedPlace, judgePlace, type WantedPlace } from "./take-places.js";

/** An appointment and its new time. */
export interface WantedMove extends WantedPlace {
  readonly appointment: AppointmentRecord;
}

/** A move with the slots of its new time. */
export type FoundMove = WantedMove & FoundPlace;

/** A move with the data that is read after its rows are locked. */
export interface ReadMove {
  readonly move: FoundMove;
  readonly localDate: string;
  readonly offer: Offer | undefined;
  readonly busy: BusyPeople;
  readonly limits: MoveLimits;
  /**
   * Whether the move makes the appointment the patient's first for its service in the calendar year of the new date.
   * The other appointments that move in the same call do not count: {@link countOneAfterTheOther} adds them. Undefined
   * for a move within one calendar year: the appointment then keeps its `firstVisit`.
   */
  readonly isFirst: boolean | undefined;
}

/**
 * Reads the data that {@link judgeMove} needs. Call it after the statements that take the locks, in the same round
 * trip. `exceptIds` are the appointments that move in the same call. Nobody counts as busy because of them.
 */
export async function readMove(
  move: FoundMove,
  exceptIds: readonly string[],
  call: ReadyCall,
  nowMs: number,
): Promise<ReadMove> {
  const { transaction, principal } = call;
  const { run, appointment } = move;
  const { id, patientId, serviceId } = appointment;
  const localDate = localDateAt(move.startMs);
  const [offer, busy, limits, isFirst] = await Promise.all([
    run && findOffer(transaction, principal, { slotId: run.firstSlotId, serviceId }, undefined),
    run === undefined
      ? nobodyBusy
      : findBusyBeside(transaction, run, { patientId, exceptIds }, { nowMs, visitMinutes: move.visitMinutes }),
    findMoveLimits(transaction, id, run?.firstSlotId),
    yearOf(localDate) === yearOf(appointment.localDate)
      ? undefined
      : isFirstVisit(transaction, { patientId, serviceId, on: { localDate } }, exceptIds),
  ]);
  return { move, localDate, offer, busy, limits, isFirst };
}

function yearOf(localDate: string): string {
  return localDate.slice(0, 4);
}

/**
 * Returns the moves, adjusted for the other moves of the same service in this call:
 * - `limits.onDay` counts the patient's appointments for the service on the new day. The adjusted count omits the other
 *   moved appointments that were on this day. It includes those that earlier elements of `moves` move to this day.
 * - `isFirst` becomes false if an earlier element moves to the same year, or if a later element stays in this year.
 */
export function countOneAfterTheOther(moves: readonly ReadMove[]): readonly ReadMove[] {
  return moves.map((read, index) => {
    const alike = (other: ReadMove) => other.move.appointment.serviceId === read.move.appointment.serviceId;
    const earlier = moves.slice(0, index).filter(alike);
    const left = moves.filter(
      (other) => other !== read && alike(other) && other.move.appointment.localDate === read.localDate,
    );
    const arrived = earlier.filter(({ localDate }) => localDate === read.localDate);
    const { onDay } = read.limits;
    const counted = onDay && { ...onDay, count: onDay.count - left.length + arrived.length };
    const staying = moves.slice(index + 1).filter((other) => alike(other) && other.isFirst === undefined);
    const isYearTaken = [...earlier, ...staying].some(({ localDate }) => yearOf(localDate) === yearOf(read.localDate));
    const isFirst = read.isFirst && !isYearTaken;
    return { ...read, limits: { ...read.limits, onDay: counted }, isFirst };
  });
}

/**
 * Returns the slots and the conflicts of a move, and the move itself. Does not check the capacity of the new day;
 * `takePlaces` does.
 */
export function judgeMove(
  read: ReadMove,
  locked: LockedTimes,
  leaving: ReadonlySet<string | undefined>,
  { principal }: ReadyCall,
  nowMs: number,
): JudgedPlace & { readonly read: ReadMove } {
  const { move, offer, busy, limits } = read;
  const { field, appointment } = move;
  const slots = slotsHeldBy(appointment, locked.slots);
  const isActive = locked.activePractitioners.has(move.practitionerId);
  const locationId = isActive ? offer?.locationId : undefined;
  const place = judgePlace(move, locked, { locationId, busy, held: slots, leaving });
  const change = { principal, slots, nowMs };
  const late = lateConflicts(appointment, "be rescheduled", limits.latestHours, { ...change, field });
  return { ...place, read, found: [...late, ...roomConflicts(limits, principal, field), ...place.found] };
}

/**
 * Returns the moves with the conflicts between their new times. The practitioner of a move is busy with an earlier move
 * until its buffer ends, the patient until its visit ends. All moves shift by the same time. So two new times can
 * overlap only if the appointments had different practitioners or programs before.
 */
export function judgeTogether<Place extends JudgedPlace>(moves: readonly Place[]): readonly Place[] {
  return moves.map((move, index) => {
    const own = move.taken?.placement;
    const earlier = moves.slice(0, index).flatMap(({ taken }) => taken?.placement ?? []);
    if (own === undefined) return move;
    const meets = (ends: (time: AppointmentPlacement) => Date) => (other: AppointmentPlacement) =>
      other.startsAt < ends(own) && own.startsAt < ends(other);
    const sameStaff = earlier.filter(({ practitionerId }) => practitionerId === own.practitionerId);
    const busy = {
      isPractitionerBusy: sameStaff.some(meets(({ endsAt }) => endsAt)),
      isPatientBusy: earlier.some(meets(visitEndOf)),
    };
    const codes = new Set(move.found.map(({ code }) => code));
    const met = timeConflicts({ slots: [], busy }, move.field).filter(({ code }) => !codes.has(code));
    return { ...move, found: [...move.found, ...met] };
  });
}

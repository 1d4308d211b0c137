import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict, conflicts, type FieldErrorCode, validationFailed } from "../../errors.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyInRun, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isBusy } from "../../postgres/tables/appointments/busy-times.js";
import { findOutdated } from "../../postgres/tables/appointments/offers.js";
import { type Locked, lockInOrder } from "../../postgres/tables/locks.js";
import { insertOwnSlot } from "../../postgres/tables/schedule/own-slots.js";
import { occupySlots, releaseSlots, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { isWithinOneDay } from "../../scheduling/booking-times.js";
import { clinicTimeZone } from "../../scheduling/local-clock.js";
import type { VisitLength } from "../appointments/booking-references.js";
import { fill, visitEndIn } from "../appointments/take-slots.js";
import { isAny, patientOverlap, timeConflicts } from "../appointments/time-conflicts.js";

const FIELD = "durationMinutes";

/**
 * The locked rows of an appointment whose duration may change. `locked.slots` are the slots from its start to its new
 * end. `busy` says whether the practitioner or the patient is busy in this interval. `isOutdated` says whether these
 * slots are not up to date ({@link findOutdated}).
 */
export interface LockedDuration {
  readonly locked: Locked;
  readonly busy: BusyPeople;
  readonly isOutdated: boolean;
}

/**
 * Locks an appointment and its patient. `seen` is the appointment and `held` are its slots, both read without locks.
 * Without a new `length`, does nothing else: `busy` says that nobody is busy.
 *
 * With a new `length`, also locks the practitioner and the current slots. If the first of the `held` slots is in the
 * schedule, locks the slots from the start of the appointment to its new end, and reads:
 * - whether the practitioner is busy in these slots
 * - whether the patient is busy during the visit, which ends before the buffer
 * - whether the slots are up to date
 *
 * If the first of the `held` slots is not in the schedule, reads only whether the patient is busy during the visit.
 */
export async function lockForDuration(
  call: ReadyCall,
  seen: AppointmentRecord,
  held: readonly SlotRecord[],
  length: VisitLength | undefined,
  nowMs: number,
): Promise<LockedDuration> {
  const { transaction } = call;
  const { id: appointmentId, practitionerId, startsAt } = seen;
  const patient = { appointmentId };
  if (length === undefined) {
    return { locked: await lockInOrder(transaction, { patient, appointmentId }), busy: nobodyBusy, isOutdated: false };
  }
  const { minutes } = length;
  const durationMinutes = length.visitMinutes ?? minutes;
  const [first] = held;
  const isOwn = first === undefined || first.ruleId === undefined || first.retained;
  const run = isOwn ? undefined : { firstSlotId: first.id, minutes };
  const wanted = { patient, appointmentId, time: { practitionerId, run }, freesSlot: true };
  const time = { startsAt, endsAt: new Date(startsAt.getTime() + durationMinutes * 60_000) };
  const [locked, busy, isPatientBusy, outdated] = await Promise.all([
    lockInOrder(transaction, wanted),
    run === undefined
      ? nobodyBusy
      : findBusyInRun(transaction, run, { appointmentId }, { nowMs, visitMinutes: durationMinutes }),
    run === undefined && isBusy(transaction, { patientId: seen.patientId }, time, appointmentId, nowMs),
    run && findOutdated(transaction, [appointmentId]),
  ]);
  const isOutdated = outdated?.has(appointmentId) === true;
  return { locked, busy: run === undefined ? { ...nobodyBusy, isPatientBusy } : busy, isOutdated };
}

/**
 * Takes slots after an appointment, or frees its last slots, until its slots cover `minutes`. An overbooked appointment
 * gets one new slot instead, which covers the visit without the buffer. Returns the new end of the appointment, and the
 * end of its visit before the buffer.
 *
 * Throws:
 * - 409 if the slots of the appointment are no longer in the schedule
 * - 409 with all conflicts if the time from the start to the new end is not free; for an overbooked appointment, only
 *   its patient must be free
 * - 422 if there are no adjacent slots up to the new end
 * - 422 if the appointment needs further slots, and the slots of its date are not up to date
 * - 422 if an overbooked appointment would end on another day
 */
export function changeDuration(
  { transaction, newId }: ReadyCall,
  appointment: AppointmentRecord,
  { locked: { slots, occupiedSlots }, busy, isOutdated }: LockedDuration,
  { minutes, visitMinutes }: VisitLength,
): Pick<AppointmentRecord, "endsAt" | "visitEndsAt"> {
  const { id, startsAt, overbooked } = appointment;
  const ownMinutes = visitMinutes ?? minutes;
  const endsAt = new Date(startsAt.getTime() + ownMinutes * 60_000);
  if (occupiedSlots.some(({ retained }) => retained)) throw displaced();
  if (overbooked) {
    if (!isWithinOneDay(startsAt.getTime(), ownMinutes)) throw endsLater();
    if (busy.isPatientBusy) throw conflict(patientOverlap(FIELD));
    releaseSlots(transaction, occupiedSlots);
    insertOwnSlot(transaction, newId(), { ...appointment, endsAt }, true);
    return { endsAt, visitEndsAt: undefined };
  }
  const held = new Set(occupiedSlots.map((slot) => slot.id));
  const wanted = new Set(slots.map((slot) => slot.id));
  const added = slots.filter((slot) => !held.has(slot.id));
  if (!fill(slots, minutes) || (isOutdated && added.length > 0)) throw noSlots();
  const found = timeConflicts({ slots: added, busy }, FIELD);
  if (isAny(found)) throw conflicts(found);
  releaseSlots(
    transaction,
    occupiedSlots.filter((slot) => !wanted.has(slot.id)),
  );
  occupySlots(transaction, added, id);
  const visitEndsAt = visitMinutes === undefined ? undefined : visitEndIn(slots, visitMinutes);
  return { endsAt: slots.at(-1)?.endsAt ?? endsAt, visitEndsAt };
}

function displaced(): CupoError {
  const message = "the appointment is displaced: reschedule it to a time of the schedule";
  return conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
}

function noSlots(): CupoError {
  return invalid("INVALID_VALUE", "the practitioner has no adjacent slots after the appointment that are long enough");
}

function endsLater(): CupoError {
  const message = `the appointment must end on the day on which it starts, in ${clinicTimeZone}`;
  return invalid("INVALID_RANGE", message);
}

function invalid(code: FieldErrorCode, message: string): CupoError {
  return validationFailed([{ code, field: FIELD, message }]);
}

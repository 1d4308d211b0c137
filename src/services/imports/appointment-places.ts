import { isLive } from "../../postgres/tables/appointments/appointment-status.js";
import {
  findBusyTimes,
  lockPractitioners,
  type PersonTime,
} from "../../postgres/tables/imports/import-appointments.js";
import { lockCapacitiesLeft, lockSlotsOfTimes } from "../../postgres/tables/imports/import-slots.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";
import type { JudgedAppointment } from "./appointment-judgement.js";
import type { ImportBatch } from "./import-batch.js";
import { Diary, overlapErrors, type Span } from "./overlaps.js";

/**
 * An appointment to import, and the free slots that it will occupy, ordered by start. Without slots, it is overbooked.
 */
export interface PlacedAppointment extends JudgedAppointment {
  readonly slots: readonly SlotRecord[];
}

/**
 * Rejects appointments that overlap, and returns the others with their slots. The rules depend on the status:
 * - CANCELLED and NO_SHOW appointments are not rejected here.
 * - Any other appointment is rejected if its patient is busy at that time: with an appointment or hold in the database,
 *   or with an earlier appointment of this batch.
 * - A PENDING or CONFIRMED appointment in the future is also rejected if its practitioner is busy, unless it has an
 *   overbooking reason.
 *
 * A PENDING or CONFIRMED appointment in the future gets the free slots that cover exactly its time. It gets no slots if
 * there are no such slots, the practitioner is busy, or the day has no capacity left. All other appointments get none.
 *
 * Locks slots, practitioners and the counters of days, in the order of `tables/locks.ts`.
 */
export async function placeAppointments(
  batch: ImportBatch,
  judged: readonly JudgedAppointment[],
): Promise<readonly PlacedAppointment[]> {
  const { source, call } = batch;
  const { transaction } = call;
  const live = judged.filter(({ draft }) => isLive(draft.time.status));
  const ahead = live.filter(({ draft }) => draft.time.isAhead);
  const slotsFound = lockSlotsOfTimes(transaction, source, ahead.map(wantedSlots));
  lockPractitioners(transaction, [...new Set(ahead.map(({ practitionerId }) => practitionerId))]);
  const [slots, busyPatients, busyPractitioners] = await Promise.all([
    slotsFound,
    findBusyTimes(transaction, source, "patient_id", live.map(timeOf("patientId")), batch.nowMs),
    findBusyTimes(transaction, source, "practitioner_id", ahead.map(timeOf("practitionerId")), batch.nowMs),
  ]);
  const patients = new Diary();
  const practitioners = new Diary();
  const free = new FreeSlots(slots);
  const placed = judged.flatMap((appointment) => {
    const { draft, patientId, practitionerId } = appointment;
    const { time, row, value } = draft;
    const isPatientBusy = isLive(time.status) && (busyPatients.has(row.index) || patients.overlaps(patientId, time));
    const isPractitionerBusy =
      time.isAhead && (busyPractitioners.has(row.index) || practitioners.overlaps(practitionerId, time));
    const isRefused = isPractitionerBusy && value.overbookingReason === undefined;
    if (isPatientBusy || isRefused) {
      batch.reject(row, overlapErrors(value, isPatientBusy, isRefused));
      return [];
    }
    if (isLive(time.status)) patients.add(patientId, time);
    if (time.isAhead) practitioners.add(practitionerId, time);
    return [{ ...appointment, slots: time.isAhead && !isPractitionerBusy ? free.coveringOf(appointment) : [] }];
  });
  return withinCapacity(batch, placed);
}

/**
 * Locks the capacity counters of the days on which the appointments take slots. Returns the appointments in the same
 * order, with empty `slots` if the day has no capacity left. Such an appointment is imported as overbooked.
 */
async function withinCapacity({ call, nowMs }: ImportBatch, placed: readonly PlacedAppointment[]) {
  const days = placed.flatMap(({ slots: [first] }) => dayOf(first) ?? []);
  const found = await lockCapacitiesLeft(call.transaction, days, nowMs);
  const left = new Map(found.map((day) => [`${day.ruleId} ${day.localDate}`, day.left]));
  return placed.map((appointment) => {
    const day = dayOf(appointment.slots[0]);
    if (day === undefined) return appointment;
    const name = `${day.ruleId} ${day.localDate}`;
    const units = left.get(name) ?? 0;
    left.set(name, units - 1);
    return units > 0 ? appointment : { ...appointment, slots: [] };
  });
}

/**
 * Returns the program rule and the date of a slot. Capacity is counted for each rule and date. Returns undefined if
 * there is no slot, or if the slot has no rule.
 */
export function dayOf(slot: SlotRecord | undefined) {
  if (slot?.ruleId === undefined) return undefined;
  return { ruleId: slot.ruleId, localDate: slot.localDate };
}

function timeOf(person: "patientId" | "practitionerId") {
  return (appointment: JudgedAppointment): PersonTime => ({
    position: appointment.draft.row.index,
    personId: appointment[person],
    ...span(appointment),
  });
}

function wantedSlots(appointment: JudgedAppointment) {
  const { draft, practitionerId } = appointment;
  return { programId: draft.programId, practitionerId, ...span(appointment) };
}

function span({ draft: { time } }: JudgedAppointment) {
  return { startsAt: new Date(time.startMs), endsAt: new Date(time.endMs) };
}

/** The locked slots of a batch that are free. */
class FreeSlots {
  readonly #slots = new Map<string, SlotRecord[]>();

  constructor(slots: readonly SlotRecord[]) {
    const ordered = slots.toSorted((one, other) => one.startsAt.getTime() - other.startsAt.getTime());
    for (const slot of ordered.filter(({ appointmentId }) => appointmentId === undefined)) {
      const name = `${slot.programId} ${slot.practitionerId}`;
      this.#slots.set(name, [...(this.#slots.get(name) ?? []), slot]);
    }
  }

  /**
   * Returns the adjacent slots of one rule that cover exactly the time of an appointment, or an empty list if there are
   * none. A later call can return the same slots. So do not pass two appointments of one practitioner that overlap.
   */
  coveringOf({ draft: { programId, time }, practitionerId }: JudgedAppointment): readonly SlotRecord[] {
    const all = this.#slots.get(`${programId} ${practitionerId}`) ?? [];
    const run = all.filter(({ startsAt }) => startsAt.getTime() >= time.startMs && startsAt.getTime() < time.endMs);
    return run.every(({ ruleId }) => ruleId === run[0]?.ruleId) && covers(run, time) ? run : [];
  }
}

function covers(run: readonly SlotRecord[], { startMs, endMs }: Span): boolean {
  let reached = startMs;
  for (const { startsAt, endsAt } of run) {
    if (startsAt.getTime() !== reached) return false;
    reached = endsAt.getTime();
  }
  return reached === endMs;
}

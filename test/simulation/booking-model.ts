import {
  type AppointmentModel,
  type ClinicModel,
  DAY,
  dayOf,
  type HoldModel,
  isBlocked,
  isLiveHold,
  type OptionModel,
  overlap,
  runFrom,
  type SlotModel,
  type Time,
} from "./clinic-model.js";
import { expiryOf, isBusy, minutesHeld, obstacles, timeOf } from "./option-model.js";

/** The expected answer: the appointment, or the status and field errors (`field CODE`) of a rejection. */
export type Verdict = AppointmentModel | Refusal;

export interface Refusal {
  readonly refused: number;
  readonly errors: readonly string[];
}

/** The time after its start in which a slot can still be booked, in minutes. */
export const GRACE_MINUTES = 15;
export const GONE: Refusal = { refused: 410, errors: [] };

export function book(clinic: ClinicModel, patient: number, option: OptionModel, typeMinutes: number): Verdict {
  if (!("patient" in option.subject) || option.subject.patient !== patient)
    return refuse(422, "optionToken INVALID_OPTION");
  if (clinic.now >= expiryOf(option)) return GONE;
  if (typeMinutes > option.minutes) return refuse(422, "optionToken INVALID_OPTION");
  const taken = takeOption(clinic, option, patient, undefined);
  return "refused" in taken ? taken : add(clinic, patient, taken);
}

export function move(
  clinic: ClinicModel,
  appointment: AppointmentModel,
  version: number,
  option: OptionModel,
): Verdict {
  const refusal = refuseStep(clinic, appointment, version, ["PENDING", "CONFIRMED"], true);
  if (refusal !== undefined) return refusal;
  const { subject } = option;
  if (!("appointment" in subject) || subject.appointment !== appointment)
    return refuse(422, "optionToken INVALID_OPTION");
  if (clinic.now >= expiryOf(option)) return GONE;
  if (isTooShort(clinic, option)) return refuse(422, "optionToken INVALID_OPTION");
  const taken = takeOption(clinic, option, appointment.patient, appointment);
  if ("refused" in taken) return taken;
  release(clinic, appointment);
  for (const slot of taken) slot.appointment = appointment;
  Object.assign(appointment, timeOf(taken), { overbooked: false, version: version + 1 });
  return appointment;
}

/** Books the free slots of a practitioner at a given time. */
export function bookAt(clinic: ClinicModel, patient: number, time: Time): Verdict {
  if (time.start < clinic.now - GRACE_MINUTES) return refuse(422, "startsAt OUT_OF_RANGE");
  const run = runAt(clinic, time);
  if (run.length === 0) return refuse(422, "startsAt INVALID_VALUE");
  const conflicts = obstacles(clinic, timeOf(run), patient, undefined);
  return conflicts.length === 0 ? add(clinic, patient, run) : refuseAll("startsAt", conflicts);
}

/**
 * Books as {@link bookAt} does, if possible. Otherwise books outside the schedule, where only the patient's other
 * appointments can conflict.
 */
export function overbook(clinic: ClinicModel, patient: number, time: Time): Verdict {
  const ordinary = bookAt(clinic, patient, time);
  if (!("refused" in ordinary) || ordinary.errors[0] === "startsAt OUT_OF_RANGE") return ordinary;
  if (time.end > (dayOf(time.start) + 1) * DAY) return refuse(422, "durationMinutes INVALID_RANGE");
  if (isBusy(clinic, time, { patient })) return refuse(409, "startsAt PATIENT_OVERLAP");
  return addBeside(clinic, patient, time);
}

/** Enters a visit that is over and was attended: in free slots of its time, otherwise beside the schedule. */
export function enterLate(clinic: ClinicModel, patient: number, time: Time): Verdict {
  if (time.start > clinic.now) return refuse(422, "arrivedAt OUT_OF_RANGE", "attendedAt OUT_OF_RANGE");
  if (time.end > clinic.now) return refuse(422, "startsAt OUT_OF_RANGE");
  const { practitioner } = time;
  const conflicts = [
    ...(isBusy(clinic, time, { practitioner }) ? ["startsAt SLOT_OCCUPIED"] : []),
    ...(isBusy(clinic, time, { patient }) ? ["startsAt PATIENT_OVERLAP"] : []),
  ];
  if (conflicts.length > 0) return refuse(409, ...conflicts);
  const run = runAt(clinic, time);
  const isFree = run.length > 0 && run.every((slot) => slot.appointment === undefined);
  const isOrdinary = isFree && obstacles(clinic, timeOf(run), patient, undefined).length === 0;
  const booked = isOrdinary ? add(clinic, patient, run) : addBeside(clinic, patient, time);
  return Object.assign(booked, { status: "ATTENDED", version: 3 });
}

export function confirm(clinic: ClinicModel, appointment: AppointmentModel, version: number): Verdict {
  const refusal = refuseStep(clinic, appointment, version, ["PENDING"], true);
  return refusal ?? Object.assign(appointment, { status: "CONFIRMED", version: version + 1 });
}

export function cancel(clinic: ClinicModel, appointment: AppointmentModel, version: number): Verdict {
  const refusal = refuseStep(clinic, appointment, version, ["PENDING", "CONFIRMED"], false);
  if (refusal !== undefined) return refusal;
  release(clinic, appointment);
  const { status: cancelledFrom } = appointment;
  return Object.assign(appointment, { status: "CANCELLED", cancelledFrom, version: version + 1 });
}

export function refuse(refused: number, ...errors: string[]): Refusal {
  return { refused, errors };
}

/** Refuses a time because of all these conflicts, each on the same field. */
export function refuseAll(field: string, codes: readonly string[]): Refusal {
  return refuse(409, ...codes.map((code) => `${field} ${code}`));
}

/** Whether an appointment can be moved. */
export function movability(clinic: ClinicModel, appointment: AppointmentModel): boolean {
  return refuseStep(clinic, appointment, appointment.version, ["PENDING", "CONFIRMED"], true) === undefined;
}

/** Rejects a stale version, then a wrong status or an appointment that has already begun. */
export function refuseStep(
  { now }: ClinicModel,
  appointment: AppointmentModel,
  version: number,
  from: readonly AppointmentModel["status"][],
  isBeforeStart: boolean,
): Refusal | undefined {
  if (version !== appointment.version) return refuse(409, "expectedVersion STALE_VERSION");
  const isLate = isBeforeStart && appointment.start <= now;
  return from.includes(appointment.status) && !isLate ? undefined : refuse(409, "appointmentId STATE_NOT_ALLOWED");
}

/** Whether the appointment to move has become longer than the option since the search. */
export function isTooShort(clinic: ClinicModel, { subject, minutes }: OptionModel): boolean {
  return "appointment" in subject && minutes < (minutesHeld(clinic, subject.appointment) ?? 0);
}

/** Returns all conflicts of the slots of an option. */
export function conflictsOf(
  clinic: ClinicModel,
  run: readonly SlotModel[],
  patient: number,
  moving: AppointmentModel | undefined,
  hold?: HoldModel,
): string[] {
  const isSame = moving !== undefined && run.some((slot) => slot.appointment === moving);
  const codes = [...(isSame ? ["SAME_SLOT"] : []), ...obstacles(clinic, timeOf(run), patient, moving, hold)];
  return codes.map((code) => `optionToken ${code}`);
}

/**
 * Returns the slots of an option and marks it as used. Rejects an option whose slots have changed with 410, and one with
 * conflicts with all of them; a reschedule names the first.
 */
function takeOption(
  clinic: ClinicModel,
  option: OptionModel,
  patient: number,
  moving: AppointmentModel | undefined,
): readonly SlotModel[] | Refusal {
  const run = runFrom(clinic, option.slots[0], option.minutes);
  const isSame = run.length === option.slots.length && run.every((slot, i) => slot === option.slots[i]);
  const { hold } = option;
  if (option.used || !isSame || run.some((slot) => slot.start <= clinic.now)) return GONE;
  if (hold !== undefined && !isLiveHold(clinic, hold)) return GONE;
  const found = conflictsOf(clinic, run, patient, moving, hold);
  if (found.length > 0) return refuse(409, ...found.slice(0, moving === undefined ? undefined : 1));
  option.used = true;
  if (hold !== undefined) hold.ended = true;
  return run;
}

/** Returns the slots that a time without an option takes. */
export function runAt(clinic: ClinicModel, { program, practitioner, start, end }: Time): SlotModel[] {
  const isThere = (slot: SlotModel) =>
    slot.ofRule &&
    !slot.retained &&
    slot.program === program &&
    slot.practitioner === practitioner &&
    slot.start === start;
  return runFrom(clinic, clinic.slots.find(isThere), end - start);
}

function addBeside(clinic: ClinicModel, patient: number, time: Time): AppointmentModel {
  const own: SlotModel = { ...time, ofRule: false, retained: isBlocked(clinic.blocks, time), appointment: undefined };
  clinic.slots.push(own);
  return add(clinic, patient, [own]);
}

/** Adds an appointment in these free slots. */
export function add(clinic: ClinicModel, patient: number, slots: readonly SlotModel[]): AppointmentModel {
  const time = timeOf(slots);
  const status = time.start <= clinic.now ? "CONFIRMED" : "PENDING";
  const overbooked = slots.some((slot) => !slot.ofRule);
  const appointment: AppointmentModel = {
    ...time,
    id: clinic.appointments.length,
    patient,
    status,
    version: 1,
    overbooked,
  };
  clinic.appointments.push(appointment);
  for (const slot of slots) slot.appointment = appointment;
  return appointment;
}

/** Frees the slots of an appointment. Removes slots that were retained for it or made for it. */
function release(clinic: ClinicModel, appointment: AppointmentModel): void {
  const isGoing = (slot: SlotModel) => slot.appointment === appointment && (slot.retained || !slot.ofRule);
  const freed = clinic.slots.filter((slot) => slot.appointment === appointment);
  clinic.slots = clinic.slots.filter((slot) => !isGoing(slot));
  for (const slot of freed) slot.appointment = undefined;
  noteFreed(clinic, freed);
}

/** Makes the free slots of these practitioners in these times due to be offered, in all programs. */
export function noteFreed(clinic: ClinicModel, times: readonly SlotModel[]): void {
  const isIn = (slot: SlotModel) =>
    times.some((time) => time.practitioner === slot.practitioner && overlap(time, slot));
  for (const slot of clinic.slots.filter((each) => each.ofRule && !each.retained && isIn(each))) {
    if (slot.appointment !== undefined) continue;
    const known = clinic.freed.find((each) => each.slot === slot);
    const again = { due: Number.NEGATIVE_INFINITY, isUncertain: false };
    if (known === undefined) clinic.freed.push({ slot, offered: [], ...again });
    else Object.assign(known, again);
  }
}

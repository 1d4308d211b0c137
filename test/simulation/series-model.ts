import { add, GRACE_MINUTES, noteFreed, type Refusal, refuse, runAt } from "./booking-model.js";
import {
  type AppointmentModel,
  type ClinicModel,
  countOn,
  dayOf,
  overlap,
  type SlotModel,
  type Time,
} from "./clinic-model.js";
import { isBusy, isHeldDay, timeOf } from "./option-model.js";

/** The expected answer of a call with several appointments. */
export type Verdicts = readonly AppointmentModel[] | Refusal;

/** A time that a call wants for an appointment of a patient. */
export interface WantedTime extends Time {
  readonly patient: number;
  readonly moving?: AppointmentModel;
}

/** Books each of the times, as one series or as a group, or refuses all. */
export function bookAll(clinic: ClinicModel, field: string, wanted: readonly WantedTime[], series?: number): Verdicts {
  const [first] = wanted;
  if (first !== undefined && first.start < clinic.now - GRACE_MINUTES) return refuse(422, "startsAt OUT_OF_RANGE");
  const runs = wanted.map((time) => runAt(clinic, time));
  const conflicts = conflictsOf(clinic, field, wanted, runs);
  if (conflicts.length > 0) return refuse(409, ...conflicts);
  return runs.map((run, index) => {
    const booked = add(clinic, wanted[index]?.patient ?? 0, run);
    return series === undefined ? booked : Object.assign(booked, { series });
  });
}

/** Returns the times of visits back to back, as long as the slots that begin the first. */
export function backToBack(
  clinic: ClinicModel,
  first: Time,
  visits: readonly { readonly patient: number; readonly minutes: number }[],
): WantedTime[] {
  const [slot] = runAt(clinic, { ...first, end: first.start + 1 });
  const length = slot === undefined ? 1 : slot.end - slot.start;
  let { start } = first;
  return visits.map(({ patient, minutes }) => {
    const time = { ...first, patient, start, end: start + minutes };
    start += Math.ceil(minutes / length) * length;
    return time;
  });
}

/** Cancels the appointments of a series from one of them on, or all. */
export function cancelSeries(clinic: ClinicModel, series: number, from: AppointmentModel | undefined): Verdicts {
  const going = changeableFrom(clinic, series, from);
  if (going.length === 0)
    return refuse(409, `${from === undefined ? "seriesId" : "fromAppointmentId"} STATE_NOT_ALLOWED`);
  leaveSlots(clinic, going);
  for (const appointment of going) {
    const { status: cancelledFrom, version } = appointment;
    Object.assign(appointment, { status: "CANCELLED", cancelledFrom, version: version + 1 });
  }
  return going;
}

/** Moves an appointment of a series and those that follow it by the same time. */
export function moveSeries(
  clinic: ClinicModel,
  from: AppointmentModel,
  version: number,
  to: { readonly start: number; readonly practitioner: number | undefined },
): Verdicts {
  const going = changeableFrom(clinic, from.series ?? 0, from);
  if (going.length === 0) return refuse(409, "fromAppointmentId STATE_NOT_ALLOWED");
  if (version !== from.version) return refuse(409, "expectedVersion STALE_VERSION");
  if (going[0] !== from) return refuse(409, "fromAppointmentId STATE_NOT_ALLOWED");
  if (to.start < clinic.now - GRACE_MINUTES) return refuse(422, "startsAt OUT_OF_RANGE");
  const later = to.start - from.start;
  const wanted = going.map((moving): WantedTime => {
    const { program, patient, practitioner, start, end } = moving;
    return {
      program,
      patient,
      moving,
      practitioner: to.practitioner ?? practitioner,
      start: start + later,
      end: end + later,
    };
  });
  const runs = wanted.map((time) => runAt(clinic, time));
  const conflicts = conflictsOf(clinic, "occurrences", wanted, runs);
  if (conflicts.length > 0) return refuse(409, ...conflicts);
  leaveSlots(clinic, going);
  for (const [index, appointment] of going.entries()) {
    const run = runs[index] ?? [];
    for (const slot of run) slot.appointment = appointment;
    Object.assign(appointment, timeOf(run), { overbooked: false, version: appointment.version + 1 });
  }
  return going;
}

/** Exchanges the appointments of the first two practitioners of a program in a span, in the order of `ids`. */
export function swap(
  clinic: ClinicModel,
  program: number,
  span: Pick<Time, "start" | "end">,
  ids: readonly string[],
): Verdicts {
  if (span.start <= clinic.now) return refuse(422, "startsAt OUT_OF_RANGE");
  const going = clinic.appointments
    .filter((each) => each.program === program && each.status !== "CANCELLED" && overlap(each, span))
    .toSorted((a, b) => (`${ids[a.id]}` < `${ids[b.id]}` ? -1 : 1));
  const exchanged = new Map<AppointmentModel, readonly SlotModel[]>();
  for (const appointment of going) {
    if (!isSwappable(clinic, appointment, span)) return refuse(409, "practitionerId STATE_NOT_ALLOWED");
    const slots = slotsFor(clinic, appointment);
    if (slots === undefined) return refuse(409, "practitionerId SLOT_OCCUPIED");
    exchanged.set(appointment, slots);
  }
  const others = without(clinic, going);
  if (going.some((each) => isBusy(others, each, { practitioner: 1 - each.practitioner })))
    return refuse(409, "practitionerId SLOT_OCCUPIED");
  leaveSlots(clinic, going);
  for (const [appointment, slots] of exchanged) {
    for (const slot of slots) slot.appointment = appointment;
    const { practitioner, version } = appointment;
    Object.assign(appointment, { practitioner: 1 - practitioner, version: version + 1 });
  }
  return going;
}

function isSwappable(
  { slots }: ClinicModel,
  appointment: AppointmentModel,
  span: Pick<Time, "start" | "end">,
): boolean {
  const { status, overbooked, start, end } = appointment;
  const isDisplaced = slots.some((slot) => slot.appointment === appointment && slot.retained);
  return status !== "ATTENDED" && !overbooked && !isDisplaced && start >= span.start && end <= span.end;
}

/** Returns the slots of the other practitioner that cover exactly the time of an appointment. */
function slotsFor(clinic: ClinicModel, appointment: AppointmentModel): readonly SlotModel[] | undefined {
  const { program, practitioner, start, end } = appointment;
  const run = runAt(clinic, { program, practitioner: 1 - practitioner, start, end });
  return run.at(-1)?.end === end ? run : undefined;
}

function changeableFrom({ appointments, now }: ClinicModel, series: number, from: AppointmentModel | undefined) {
  return appointments
    .filter((each) => each.series === series && (each.status === "PENDING" || each.status === "CONFIRMED"))
    .filter(({ start }) => start > now && start >= (from?.start ?? 0))
    .toSorted((a, b) => a.start - b.start);
}

/** Returns the conflicts of all times. Units of capacity are taken in their order, after all old ones came back. */
function conflictsOf(
  clinic: ClinicModel,
  field: string,
  wanted: readonly WantedTime[],
  runs: readonly (readonly SlotModel[])[],
): string[] {
  const others = without(
    clinic,
    wanted.map(({ moving }) => moving),
  );
  const needsUnit = runs.map((run, i) => run.length === 0 || !isHeldDay(wanted[i]?.moving, timeOf(run)));
  const back = without(
    clinic,
    wanted.map(({ moving }, i) => (needsUnit[i] === true ? moving : undefined)),
  );
  const taken: Time[] = [];
  return runs.flatMap((run, i) => {
    const { patient, moving } = wanted[i] ?? {};
    if (run.length === 0) return [`${field}[${i}] NO_SLOT`];
    const time = timeOf(run);
    const { program, practitioner, start } = time;
    const found: string[] = [];
    if (moving !== undefined && run[0] === firstSlotOf(clinic, moving)) found.push("SAME_SLOT");
    if (isBusy(others, time, { practitioner })) found.push("SLOT_OCCUPIED");
    if (patient !== undefined && isBusy(others, time, { patient })) found.push("PATIENT_OVERLAP");
    if (needsUnit[i] === true) {
      const isThen = (each: Time) => each.program === program && dayOf(each.start) === dayOf(start);
      const count = countOn(back, program, dayOf(start)) + taken.filter(isThen).length;
      if (count >= (clinic.programs[program]?.rule.capacity ?? 0)) found.push("CAPACITY_EXHAUSTED");
      else taken.push(time);
    }
    return found.map((code) => `${field}[${i}] ${code}`);
  });
}

/** Returns the clinic as it is without some of its appointments. */
function without(clinic: ClinicModel, going: readonly (AppointmentModel | undefined)[]): ClinicModel {
  return { ...clinic, appointments: clinic.appointments.filter((each) => !going.includes(each)) };
}

/** Frees the slots of all appointments, before any of them takes others. */
function leaveSlots(clinic: ClinicModel, going: readonly AppointmentModel[]): void {
  const held = clinic.slots.filter(({ appointment }) => appointment !== undefined && going.includes(appointment));
  clinic.slots = clinic.slots.filter((slot) => !held.includes(slot) || (slot.ofRule && !slot.retained));
  for (const slot of held) slot.appointment = undefined;
  noteFreed(clinic, held);
}

function firstSlotOf({ slots }: ClinicModel, appointment: AppointmentModel): SlotModel | undefined {
  const held = slots.filter((slot) => slot.appointment === appointment);
  return held.toSorted((a, b) => a.start - b.start)[0];
}

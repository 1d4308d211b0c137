import {
  type AppointmentModel,
  type ClinicModel,
  countOn,
  dayOf,
  overlap,
  runFrom,
  type SlotModel,
  type Time,
} from "./clinic-model.js";

/** Finds the runs of free slots that a patient can book on some days, or that the appointment `moving` can move to. */
export function findRuns(
  clinic: ClinicModel,
  patient: number,
  minutes: number | undefined,
  days: readonly number[],
  moving?: AppointmentModel,
): SlotModel[][] {
  const isFree = (run: readonly SlotModel[]) => run.length > 0 && run.every((slot) => slot.appointment === undefined);
  return clinic.slots
    .filter((slot) => slot.start > clinic.now && days.includes(dayOf(slot.start)) && slot.appointment === undefined)
    .map((slot) => runFrom(clinic, slot, minutes ?? slot.end - slot.start))
    .filter((run) => isFree(run) && obstacle(clinic, timeOf(run), patient, moving) === undefined);
}

/** Returns how many minutes an appointment needs when it moves. Undefined if one slot of any length is enough. */
export function minutesHeld({ slots }: ClinicModel, appointment: AppointmentModel): number | undefined {
  const { overbooked, start, end } = appointment;
  const held = slots.filter((slot) => slot.appointment === appointment);
  return held.length > 1 || overbooked ? end - start : undefined;
}

/** Returns the code of the first conflict: practitioner, patient, then daily capacity. Undefined if there is none. */
export function obstacle(
  clinic: ClinicModel,
  time: Time,
  patient: number,
  moving: AppointmentModel | undefined,
): string | undefined {
  if (isBusy(clinic, time, { practitioner: time.practitioner }, moving)) return "SLOT_OCCUPIED";
  if (isBusy(clinic, time, { patient }, moving)) return "PATIENT_OVERLAP";
  const day = dayOf(time.start);
  const isHeld =
    moving !== undefined && !moving.overbooked && moving.program === time.program && dayOf(moving.start) === day;
  const capacity = clinic.programs[time.program]?.rule.capacity ?? 0;
  return isHeld || countOn(clinic, time.program, day) < capacity ? undefined : "CAPACITY_EXHAUSTED";
}

/** Whether a patient or practitioner has another live appointment at a time. */
export function isBusy(
  { appointments }: ClinicModel,
  time: Time,
  who: { readonly patient?: number; readonly practitioner?: number },
  except?: AppointmentModel,
): boolean {
  return appointments.some(
    (each) =>
      each !== except &&
      each.status !== "CANCELLED" &&
      (each.patient === who.patient || each.practitioner === who.practitioner) &&
      overlap(each, time),
  );
}

/** Returns the period that adjoining slots cover together. */
export function timeOf(slots: readonly SlotModel[]): Time {
  const [first] = slots;
  if (first === undefined) throw new Error("a time without a slot");
  const { program, practitioner, start } = first;
  return { program, practitioner, start, end: slots.at(-1)?.end ?? start };
}

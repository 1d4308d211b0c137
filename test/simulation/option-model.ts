import {
  type AppointmentModel,
  type ClinicModel,
  countOn,
  dayOf,
  type HoldModel,
  isLiveHold,
  type OptionModel,
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
    .filter((run) => isFree(run) && obstacles(clinic, timeOf(run), patient, moving).length === 0);
}

/** Returns how many minutes an appointment needs when it moves. Undefined if one slot of any length is enough. */
export function minutesHeld({ slots }: ClinicModel, appointment: AppointmentModel): number | undefined {
  const { overbooked, start, end } = appointment;
  const held = slots.filter((slot) => slot.appointment === appointment);
  return held.length > 1 || overbooked ? end - start : undefined;
}

/** Returns the codes of all conflicts: practitioner, patient, then daily capacity. */
export function obstacles(
  clinic: ClinicModel,
  time: Time,
  patient: number,
  moving: AppointmentModel | undefined,
  hold?: HoldModel,
): string[] {
  const found: string[] = [];
  if (isBusy(clinic, time, { practitioner: time.practitioner }, moving, hold)) found.push("SLOT_OCCUPIED");
  if (isBusy(clinic, time, { patient }, moving, hold)) found.push("PATIENT_OVERLAP");
  const capacity = clinic.programs[time.program]?.rule.capacity ?? 0;
  const needsUnit = !isHeldDay(moving, time) && hold?.usesUnit !== true;
  if (needsUnit && countOn(clinic, time.program, dayOf(time.start)) >= capacity) found.push("CAPACITY_EXHAUSTED");
  return found;
}

/** Whether the appointment that moves already uses a unit of that day. */
export function isHeldDay(moving: AppointmentModel | undefined, { program, start }: Time): boolean {
  if (moving === undefined || moving.overbooked) return false;
  return moving.program === program && dayOf(moving.start) === dayOf(start);
}

/** Whether a patient or practitioner has another live appointment or hold at a time. */
export function isBusy(
  clinic: ClinicModel,
  time: Time,
  who: { readonly patient?: number; readonly practitioner?: number },
  except?: AppointmentModel,
  exceptHold?: HoldModel,
): boolean {
  const isThen = (each: AppointmentModel | HoldModel) =>
    (each.patient === who.patient || each.practitioner === who.practitioner) && overlap(each, time);
  return (
    clinic.appointments.some((each) => each !== except && each.status !== "CANCELLED" && isThen(each)) ||
    clinic.holds.some((each) => each !== exceptHold && isLiveHold(clinic, each) && isThen(each))
  );
}

/** The validity of an option after its search, in minutes. */
const OPTION_MINUTES = 10;

/** Returns the minute at which the token of an option expires. */
export function expiryOf({ hold, at }: OptionModel): number {
  return hold?.until ?? at + OPTION_MINUTES;
}

/** Returns the period that adjoining slots cover together. */
export function timeOf(slots: readonly SlotModel[]): Time {
  const [first] = slots;
  if (first === undefined) throw new Error("a time without a slot");
  const { program, practitioner, start } = first;
  return { program, practitioner, start, end: slots.at(-1)?.end ?? start };
}

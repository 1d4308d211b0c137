import { conflictsOf, GONE, isTooShort, movability, type Refusal, refuse } from "./booking-model.js";
import {
  type ClinicModel,
  dayOf,
  type HoldModel,
  isLiveHold,
  type OptionModel,
  overlap,
  runFrom,
} from "./clinic-model.js";
import { expiryOf, isHeldDay, timeOf } from "./option-model.js";

/** The highest number of live holds of a patient. */
export const MAX_OF_PATIENT = 3;

/** Holds the first option that is free. If none is, the first option decides why. */
export function hold(clinic: ClinicModel, options: readonly OptionModel[], minutes: number): HoldModel | Refusal {
  const [first, ...others] = options;
  if (first === undefined) throw new Error("there is no option to hold");
  const wrong = options.findIndex((option) => option.hold !== undefined);
  if (wrong >= 0)
    return refuse(422, `${wrong === 0 ? "optionToken" : `alternativeOptionTokens[${wrong - 1}]`} INVALID_OPTION`);
  const usable = options.filter((option) => clinic.now < expiryOf(option));
  if (usable.length === 0 || (others.length === 0 && usable[0] !== first)) return GONE;
  const chosen =
    others.length === 0
      ? undefined
      : usable.find((option) => !isTooShort(clinic, option) && refusalOf(clinic, option) === undefined);
  if (chosen === undefined && usable[0] !== first) return GONE;
  return take(clinic, chosen ?? first, minutes);
}

/** Releases a hold. A freed slot in its time is due to be offered, unless no entry wants it. */
export function release(clinic: ClinicModel, held: HoldModel): HoldModel | Refusal {
  if (!isLiveHold(clinic, held)) return refuse(409, "holdId STATE_NOT_ALLOWED");
  for (const freed of clinic.freed) {
    const { practitioner, start } = freed.slot;
    const isIn = practitioner === held.practitioner && overlap(freed.slot, held);
    if (isIn && freed.due < start) freed.due = Number.NEGATIVE_INFINITY;
  }
  return Object.assign(held, { ended: true });
}

function take(clinic: ClinicModel, option: OptionModel, minutes: number): HoldModel | Refusal {
  const { subject } = option;
  const moving = "appointment" in subject ? subject.appointment : undefined;
  if (moving !== undefined && !movability(clinic, moving)) return refuse(409, "optionToken STATE_NOT_ALLOWED");
  if (isTooShort(clinic, option)) return refuse(422, "optionToken INVALID_OPTION");
  const patient = "patient" in subject ? subject.patient : subject.appointment.patient;
  const refusal = refusalOf(clinic, option);
  if (refusal?.refused === GONE.refused) return refusal;
  const live = clinic.holds.filter((each) => each.patient === patient && isLiveHold(clinic, each));
  const limit = live.length >= MAX_OF_PATIENT ? ["optionToken HOLD_LIMIT"] : [];
  const found = [...limit, ...(refusal?.errors ?? [])];
  if (found.length > 0) return refuse(409, ...found);
  option.used = true;
  const time = timeOf(option.slots);
  const usesUnit = !isHeldDay(moving, time);
  const until = Math.min(clinic.now + minutes, time.start);
  const held: HoldModel = { ...time, id: clinic.holds.length, patient, moving, usesUnit, until, ended: false };
  clinic.holds.push(held);
  return held;
}

/** Why the slots of an option cannot be held. */
function refusalOf(clinic: ClinicModel, option: OptionModel): Refusal | undefined {
  const { subject } = option;
  const moving = "appointment" in subject ? subject.appointment : undefined;
  const patient = "patient" in subject ? subject.patient : subject.appointment.patient;
  const run = runFrom(clinic, option.slots[0], option.minutes);
  const isSame = run.length === option.slots.length && run.every((slot, i) => slot === option.slots[i]);
  if (option.used || !isSame || run.some((slot) => slot.start <= clinic.now)) return GONE;
  const found = conflictsOf(clinic, run, patient, moving);
  return found.length === 0 ? undefined : refuse(409, ...found);
}

/** Counts the free slots of a practitioner on a day of a program that a hold of the practitioner overlaps. */
export function heldOn(clinic: ClinicModel, program: number, day: number, practitioner: number): number {
  const live = clinic.holds.filter((each) => each.practitioner === practitioner && isLiveHold(clinic, each));
  return clinic.slots.filter(
    (slot) =>
      slot.appointment === undefined &&
      slot.program === program &&
      slot.practitioner === practitioner &&
      dayOf(slot.start) === day &&
      slot.start > clinic.now &&
      live.some((each) => overlap(slot, each)),
  ).length;
}

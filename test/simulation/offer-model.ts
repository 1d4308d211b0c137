import {
  type ClinicModel,
  countOn,
  dayOf,
  type FreedModel,
  isLiveHold,
  overlap,
  type WaitModel,
} from "./clinic-model.js";
import { MAX_OF_PATIENT } from "./hold-model.js";
import { isBusy } from "./option-model.js";

/** How long an offer lasts. With it, no slot is just on the limit of the notice. */
export const OFFER_MINUTES = 35;
/** From the end of an offer to the start of its slot. */
const NOTICE_MINUTES = 60;

/** What happens to a freed slot that is due. */
export type Decision =
  | { readonly kind: "OFFER"; readonly to: WaitModel }
  | { readonly kind: "FORGET" }
  /** It is due again at this time: when the holds of the slot or of its day's last unit expire, or when the slot begins. */
  | { readonly kind: "LATER"; readonly due: number };

/** Returns the freed slots that are due. */
export function dueSlots({ freed, now }: ClinicModel): FreedModel[] {
  return freed.filter(({ due }) => due <= now);
}

/** Decides what happens to a freed slot now. */
export function decide(clinic: ClinicModel, { slot, offered }: FreedModel): Decision {
  const isThere = clinic.slots.includes(slot) && slot.ofRule && !slot.retained;
  if (!isThere || slot.start - clinic.now < OFFER_MINUTES + NOTICE_MINUTES) return { kind: "FORGET" };
  const held = clinic.holds.filter(
    (each) => isLiveHold(clinic, each) && each.practitioner === slot.practitioner && overlap(each, slot),
  );
  const until = Math.max(...held.map((each) => each.until), unitHeldUntil(clinic, slot));
  if (until > clinic.now) return { kind: "LATER", due: until };
  const waiting = isOpen(clinic, slot) ? clinic.waits.filter((wait) => suits(clinic, wait, slot)) : [];
  const [to] = waiting
    .filter((wait) => !offered.includes(wait))
    .toSorted((a, b) => distance(a) - distance(b) || a.id - b.id);
  return to === undefined ? { kind: "LATER", due: slot.start } : { kind: "OFFER", to };

  function distance({ from }: WaitModel): number {
    return Math.abs(from - dayOf(slot.start));
  }
}

/** Returns when the holds that fill the day of a slot leave a unit of it; the past if it has one, or if appointments fill it. */
function unitHeldUntil(clinic: ClinicModel, { program, start }: FreedModel["slot"]): number {
  const capacity = clinic.programs[program]?.rule.capacity ?? 0;
  const live = clinic.holds.filter(
    (each) =>
      each.usesUnit && isLiveHold(clinic, each) && each.program === program && dayOf(each.start) === dayOf(start),
  );
  const left = capacity - (countOn(clinic, program, dayOf(start)) - live.length);
  const ends = live.map(({ until }) => until).toSorted((a, b) => a - b);
  return left <= 0 ? Number.NEGATIVE_INFINITY : (ends.at(-left) ?? Number.NEGATIVE_INFINITY);
}

function isOpen(clinic: ClinicModel, slot: FreedModel["slot"]): boolean {
  const capacity = clinic.programs[slot.program]?.rule.capacity ?? 0;
  return (
    slot.appointment === undefined &&
    !isBusy(clinic, slot, { practitioner: slot.practitioner }) &&
    countOn(clinic, slot.program, dayOf(slot.start)) < capacity
  );
}

function suits(clinic: ClinicModel, { patient, practitioner, from, to }: WaitModel, slot: FreedModel["slot"]): boolean {
  const live = clinic.holds.filter((each) => each.patient === patient && isLiveHold(clinic, each));
  const day = dayOf(slot.start);
  return (
    from <= day &&
    day <= to &&
    (practitioner === undefined || practitioner === slot.practitioner) &&
    live.length < MAX_OF_PATIENT &&
    !isBusy(clinic, slot, { patient })
  );
}

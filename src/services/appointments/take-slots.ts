import type { Transaction } from "../../call.js";
import { CupoError, conflict, type FieldErrorCode, validationFailed } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import type { AppointmentPlace } from "../../postgres/tables/appointments/appointments.js";
import type { BusyPeople } from "../../postgres/tables/appointments/busy-people.js";
import { countedDay, type DayOfRule } from "../../postgres/tables/appointments/day-counters.js";
import type { Offer } from "../../postgres/tables/appointments/offers.js";
import { exchangeCapacity } from "../../postgres/tables/capacities.js";
import type { Locked } from "../../postgres/tables/locks.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";

/** What was locked and found of an option and its taker; the latter two are undefined where there is no option to look at. */
export interface LookedUpOption {
  readonly locked: Locked;
  readonly busy: BusyPeople | undefined;
  /** How the service can be had in the first slot now. */
  readonly offer: Offer | undefined;
}

/** Slots that are taken, one behind the other, and where and when that is. */
export interface TakenSlots {
  readonly slots: readonly SlotRecord[];
  readonly place: AppointmentPlace;
}

/** The option of a token: 422 for a token that was not given for this request, 410 for one that is too old. */
export function requireOption(opened: OpenedToken, isFor: (option: OptionClaims) => boolean): OptionClaims {
  if (opened.kind === "INVALID" || !isFor(opened.option)) {
    const message = "the token is not one that was given for this request";
    throw validationFailed([{ code: "INVALID_OPTION", field: "optionToken", message }]);
  }
  if (opened.kind === "EXPIRED") throw optionGone();
  return opened.option;
}

/**
 * Takes the locked slots of an option and a unit of their day's capacity for the one that is occupied. 410 for a token that
 * was used before and for an option that is not what it was when it was found; 409 for slots or a day that are taken, for
 * slots that the appointment has already, and where the patient is expected elsewhere.
 */
export function takeSlots(
  transaction: Transaction,
  option: OptionClaims,
  { locked, offer, busy }: LookedUpOption,
  nowMs: number,
): TakenSlots {
  const { slots, occupiedSlots } = locked;
  if (!locked.isTokenFresh || !isSameRun(slots, option, nowMs)) throw optionGone();
  if (offer === undefined || !isSameOffer(offer, option) || !locked.isPractitionerActive) throw optionGone();
  if (busy === undefined) throw new Error("an option without a look at its people");
  const held = new Set(occupiedSlots.map(({ id }) => id));
  if (slots.some(({ id }) => held.has(id))) {
    throw taken("optionToken", "SAME_SLOT", "the appointment has this slot already");
  }
  requireFree(slots, "optionToken");
  const place = placeOf(slots, offer.locationId);
  takeTime(transaction, place, { busy, heldDay: countedDay(occupiedSlots[0]) }, "optionToken");
  return { slots, place };
}

/** Whether slots, in the order in which they begin, follow one another without a gap for at least so much time. */
export function fill(slots: readonly SlotRecord[], minutes: number): boolean {
  const first = slots[0]?.startsAt.getTime() ?? 0;
  let end = first;
  for (const { startsAt, endsAt } of slots) {
    if (startsAt.getTime() !== end) return false;
    end = endsAt.getTime();
  }
  return slots.length > 0 && end - first >= minutes * 60_000;
}

/** Where and when an appointment is that has these slots. */
export function placeOf(slots: readonly SlotRecord[], locationId: string): AppointmentPlace {
  const [first] = slots;
  const last = slots.at(-1);
  if (first === undefined || last === undefined) throw new Error("an appointment without a slot");
  const { programId, ruleId, practitionerId, localDate, startsAt } = first;
  return { programId, ruleId, practitionerId, locationId, localDate, startsAt, endsAt: last.endsAt };
}

/** 409 on a field of the request if another appointment has one of the slots. */
export function requireFree(slots: readonly SlotRecord[], field: string): void {
  if (slots.some(({ appointmentId }) => appointmentId !== undefined)) {
    throw taken(field, "SLOT_OCCUPIED", "the slot was taken by another appointment");
  }
}

/**
 * Takes the capacity of the day in place of that of the day held, if there is one: 409 on a field of the request where one of the
 * people is busy, or no capacity is left. That is judged by the statement that takes it, on the way of all other effects.
 */
export function takeTime(
  transaction: Transaction,
  place: AppointmentPlace,
  { busy, heldDay }: { readonly busy: BusyPeople; readonly heldDay: DayOfRule | undefined },
  field: string,
): void {
  if (busy.isPractitionerBusy)
    throw taken(field, "SLOT_OCCUPIED", "the practitioner has another appointment at that time");
  if (busy.isPatientBusy) throw patientIsBusy(field);
  const day = countedDay(place);
  if (day === undefined) return;
  exchangeCapacity(transaction, day, heldDay, () =>
    taken(field, "CAPACITY_EXHAUSTED", "the capacity of the day is used up"),
  );
}

/** 409: the patient is expected elsewhere, which nothing waives. */
export function patientIsBusy(field: string): CupoError {
  return taken(field, "PATIENT_OVERLAP", "the patient has another appointment at that time");
}

function isSameRun(slots: readonly SlotRecord[], option: OptionClaims, nowMs: number): boolean {
  if (!fill(slots, option.minutes) || slots.some(({ startsAt }) => startsAt.getTime() <= nowMs)) return false;
  return Math.max(...slots.map(({ generation }) => generation)) === option.generation;
}

function isSameOffer({ locationId, emergency }: Offer, option: OptionClaims): boolean {
  return locationId === option.locationId && emergency === option.emergency;
}

function optionGone(): CupoError {
  return new CupoError("OPTION_EXPIRED", { detail: "The option is no longer on offer. Search for options again." });
}

function taken(field: string, code: FieldErrorCode, message: string): CupoError {
  return conflict({ code, field, message });
}

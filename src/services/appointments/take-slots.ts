import type { Transaction } from "../../call.js";
import { CupoError, conflict, type FieldErrorCode, validationFailed } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import type { AppointmentPlacement } from "../../postgres/tables/appointments/appointments.js";
import type { BusyPeople } from "../../postgres/tables/appointments/busy-people.js";
import { countedDay, type DayOfRule } from "../../postgres/tables/appointments/day-counters.js";
import type { Offer } from "../../postgres/tables/appointments/offers.js";
import { exchangeCapacity } from "../../postgres/tables/capacities.js";
import type { Locked } from "../../postgres/tables/locks.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";

/**
 * The locked rows and the data that were read for an option. `busy` and `offer` are undefined if the token holds no
 * option.
 */
export interface LookedUpOption {
  readonly locked: Locked;
  readonly busy: BusyPeople | undefined;
  /** How the service is offered in the first slot now. */
  readonly offer: Offer | undefined;
}

/** Adjacent slots that were taken, with the resulting placement of the appointment. */
export interface TakenSlots {
  readonly slots: readonly SlotRecord[];
  readonly placement: AppointmentPlacement;
}

/**
 * Returns the option of a token. Throws 422 if the token is invalid or was issued for another request, 410 if it has
 * expired.
 */
export function requireOption(opened: OpenedToken, isFor: (option: OptionClaims) => boolean): OptionClaims {
  if (opened.kind === "INVALID" || !isFor(opened.option)) {
    const message =
      "the value is not an option token for this request: search for options with the same patient or appointment and service";
    throw validationFailed([{ code: "INVALID_OPTION", field: "optionToken", message }]);
  }
  if (opened.kind === "EXPIRED") throw optionGone();
  return opened.option;
}

/**
 * Takes the locked slots of an option and one unit of their day's capacity. The unit replaces the one that the
 * appointment already uses.
 *
 * Throws 410 if the token was already used or the option has changed since the search. Throws 409 in these cases:
 * - the appointment already has one of the slots
 * - another appointment has one of the slots, or the practitioner is busy
 * - the patient has another appointment at that time
 * - the day has no capacity left
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
  if (busy === undefined) throw new Error("the busy times for the option were not read");
  const held = new Set(occupiedSlots.map(({ id }) => id));
  if (slots.some(({ id }) => held.has(id))) {
    throw taken("optionToken", "SAME_SLOT", "the appointment already has this slot: choose another option");
  }
  requireFree(slots, "optionToken");
  const placement = placementOf(slots, offer.locationId);
  takeTime(transaction, placement, { busy, heldDay: countedDay(occupiedSlots[0]) }, "optionToken");
  return { slots, placement };
}

/** Whether slots are adjacent and last at least so many minutes together. The slots must be ordered by start. */
export function fill(slots: readonly SlotRecord[], minutes: number): boolean {
  const first = slots[0]?.startsAt.getTime() ?? 0;
  let end = first;
  for (const { startsAt, endsAt } of slots) {
    if (startsAt.getTime() !== end) return false;
    end = endsAt.getTime();
  }
  return slots.length > 0 && end - first >= minutes * 60_000;
}

/** Returns the placement of an appointment that occupies these slots. */
export function placementOf(slots: readonly SlotRecord[], locationId: string): AppointmentPlacement {
  const [first] = slots;
  const last = slots.at(-1);
  if (first === undefined || last === undefined) throw new Error("an appointment must have at least one slot");
  const { programId, ruleId, practitionerId, localDate, startsAt } = first;
  return { programId, ruleId, practitionerId, locationId, localDate, startsAt, endsAt: last.endsAt };
}

/** 409 on a field of the request if another appointment has one of the slots. */
export function requireFree(slots: readonly SlotRecord[], field: string): void {
  if (slots.some(({ appointmentId }) => appointmentId !== undefined)) {
    throw taken(field, "SLOT_OCCUPIED", "another appointment has taken the slot: search for options again");
  }
}

/**
 * Takes one unit of the day's capacity and gives back the unit of `heldDay`, if there is one. Throws 409 on `field` if
 * the practitioner or the patient is busy.
 *
 * If no capacity is left, the call also fails with 409 on `field`. The statement that takes the unit reports this, so the
 * check costs no extra round trip.
 */
export function takeTime(
  transaction: Transaction,
  placement: AppointmentPlacement,
  { busy, heldDay }: { readonly busy: BusyPeople; readonly heldDay: DayOfRule | undefined },
  field: string,
): void {
  if (busy.isPractitionerBusy)
    throw taken(field, "SLOT_OCCUPIED", "the practitioner has another appointment at that time");
  if (busy.isPatientBusy) throw patientIsBusy(field);
  const day = countedDay(placement);
  if (day === undefined) return;
  exchangeCapacity(transaction, day, heldDay, () =>
    taken(field, "CAPACITY_EXHAUSTED", "all capacity of the day is used: choose another day"),
  );
}

/** 409: the patient has another appointment at that time. Overbooking cannot override this. */
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
  return new CupoError("OPTION_EXPIRED", {
    detail: "The option has expired, was used, or its slot is no longer offered. Search for options again.",
  });
}

function taken(field: string, code: FieldErrorCode, message: string): CupoError {
  return conflict({ code, field, message });
}

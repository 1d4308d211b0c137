import type { ReadyCall, Transaction } from "../../call.js";
import { CupoError, conflict, type FieldErrorCode, validationFailed } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import { isBusy } from "../../postgres/tables/appointments/busy-times.js";
import type { Offer } from "../../postgres/tables/appointments/offers.js";
import { exchangeCapacity, type Locked } from "../../postgres/tables/locks.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";

/** Who is to have the slot of an option. */
export interface Taker {
  readonly patientId: string;
  /** The appointment that moves, which does not stand in its own way; undefined for a new one. */
  readonly appointmentId: string | undefined;
}

/** What was locked and found of an option and its taker. */
export interface LookedUpOption {
  readonly locked: Locked;
  /** How the service can be had in the slot now. */
  readonly offer: Offer | undefined;
}

/** A slot that is taken. */
export interface TakenSlot {
  readonly slot: SlotRecord;
  readonly locationId: string;
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
 * Takes the locked slot of an option and a unit of its day's capacity for the one that is occupied. 410 for a token that was
 * used before and for an option that is not what it was when it was found; 409 for a slot or a day that is taken, for the
 * slot that the appointment has already, and where the patient is expected elsewhere.
 */
export async function takeSlot(
  call: ReadyCall,
  option: OptionClaims,
  { locked, offer }: LookedUpOption,
  taker: Taker,
  nowMs: number,
): Promise<TakenSlot> {
  const { slot } = locked;
  if (!locked.isTokenFresh || slot === undefined || !isSameSlot(slot, option, nowMs)) throw optionGone();
  if (offer === undefined || !isSameOffer(offer, option) || !locked.isPractitionerActive) throw optionGone();
  if (slot.id === locked.occupiedSlot?.id) throw taken("SAME_SLOT", "the appointment has this slot already");
  if (slot.appointmentId !== undefined) throw taken("SLOT_OCCUPIED", "the slot was taken by another appointment");
  const [isPractitionerBusy, isPatientBusy, hasCapacity] = await tryToTake(call.transaction, slot, locked, taker);
  if (isPractitionerBusy) throw taken("SLOT_OCCUPIED", "the practitioner has another appointment at that time");
  if (isPatientBusy) throw taken("PATIENT_OVERLAP", "the patient has another appointment at that time");
  if (!hasCapacity) throw taken("CAPACITY_EXHAUSTED", "the capacity of the day is used up");
  return { slot, locationId: offer.locationId };
}

function isSameSlot({ generation, retained, startsAt }: SlotRecord, option: OptionClaims, nowMs: number): boolean {
  return generation === option.generation && !retained && startsAt.getTime() > nowMs;
}

function isSameOffer({ locationId, emergency }: Offer, option: OptionClaims): boolean {
  return locationId === option.locationId && emergency === option.emergency;
}

function optionGone(): CupoError {
  return new CupoError("OPTION_EXPIRED", { detail: "The option is no longer on offer. Search for options again." });
}

/** Looks at both people and takes the capacity in one round trip; where either is busy the transaction takes it back. */
function tryToTake(
  transaction: Transaction,
  slot: SlotRecord,
  { occupiedSlot }: Locked,
  { patientId, appointmentId }: Taker,
): Promise<[boolean, boolean, boolean]> {
  return Promise.all([
    isBusy(transaction, { practitionerId: slot.practitionerId }, slot, appointmentId),
    isBusy(transaction, { patientId }, slot, appointmentId),
    exchangeCapacity(transaction, slot, occupiedSlot),
  ]);
}

function taken(code: FieldErrorCode, message: string): CupoError {
  return conflict({ code, field: "optionToken", message });
}

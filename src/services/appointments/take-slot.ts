import type { ReadyCall, Transaction } from "../../call.js";
import { CupoError, conflict, type FieldErrorCode, validationFailed } from "../../errors.js";
import type { OpenedOption, OpenedToken } from "../../option-tokens/option-tokens.js";
import { hasOverlap } from "../../postgres/tables/appointments/appointments.js";
import {
  consumeToken,
  type DayOfRule,
  findLocationOf,
  giveCapacityBack,
  lockPractitionerOf,
  lockSlots,
  type SlotRecord,
  takeCapacity,
} from "../../postgres/tables/schedule/slots.js";

/** Who is to have the slot of an option. */
export interface Taker {
  readonly patientId: string;
  /** The appointment that moves, which does not stand in its own way; undefined for a new one. */
  readonly appointmentId: string | undefined;
}

/** What {@link lockOption} locked and found. */
export interface LockedOption {
  /** Whether the token was used up by this call and none before. */
  readonly isFresh: boolean;
  /** The slot of the option; undefined where it was withdrawn. */
  readonly slot: SlotRecord | undefined;
  /** The slot that the appointment which moves has now. */
  readonly held: SlotRecord | undefined;
  /** Where the slot takes place, if the service is offered there. */
  readonly locationId: string | undefined;
  readonly isPractitionerActive: boolean;
}

/** A slot that is taken. */
export interface TakenSlot {
  readonly slot: SlotRecord;
  readonly locationId: string;
}

/** The option of a token: 422 for a token that was not given for this request, 410 for one that is too old. */
export function requireOption(opened: OpenedToken, isFor: (option: OpenedOption) => boolean): OpenedOption {
  if (opened.kind === "INVALID" || !isFor(opened.option)) {
    const message = "the token is not one that was given for this request";
    throw validationFailed([{ code: "INVALID_OPTION", field: "optionToken", message }]);
  }
  if (opened.kind === "EXPIRED") throw optionGone();
  return opened.option;
}

/**
 * Uses a token up, locks its slot and the one that the appointment has in the order of their ids, then the practitioner: in
 * this order everywhere. Nothing is judged yet, so that all of it shares a round trip with what the caller locks before.
 */
export async function lockOption(
  transaction: Transaction,
  { jti, expiresAtMs, slotId, serviceId }: OpenedOption,
  appointmentId?: string,
): Promise<LockedOption> {
  const [isFresh, slots, isPractitionerActive, locationId] = await Promise.all([
    consumeToken(transaction, jti, new Date(expiresAtMs)),
    lockSlots(transaction, { slotId, occupiedBy: appointmentId }),
    lockPractitionerOf(transaction, slotId),
    findLocationOf(transaction, slotId, serviceId),
  ]);
  const held = slots.find((slot) => appointmentId !== undefined && slot.appointmentId === appointmentId);
  return { isFresh, slot: slots.find(({ id }) => id === slotId), held, locationId, isPractitionerActive };
}

/**
 * Takes the locked slot of an option and a unit of its day's capacity for the one that is held. 410 for a token that was
 * used before or whose slot is withdrawn, made anew or no longer offered; 409 for a slot or a day that is taken, for the
 * slot that the appointment has already, and where the patient is expected elsewhere.
 */
export async function takeSlot(
  call: ReadyCall,
  option: OpenedOption,
  locked: LockedOption,
  taker: Taker,
  nowMs: number,
): Promise<TakenSlot> {
  const { slot, locationId } = locked;
  const isOffered = slot !== undefined && slot.generation === option.generation && !slot.retained;
  if (!locked.isFresh || !isOffered || slot.startsAt.getTime() <= nowMs) throw optionGone();
  if (locationId === undefined || !locked.isPractitionerActive) throw optionGone();
  if (slot.id === locked.held?.id) throw taken("SAME_SLOT", "the appointment has this slot already");
  if (slot.appointmentId !== null) throw taken("SLOT_OCCUPIED", "the slot was taken by another appointment");
  const [isPractitionerBusy, isPatientBusy, hasCapacity] = await tryToTake(call.transaction, slot, locked, taker);
  if (isPractitionerBusy) throw taken("SLOT_OCCUPIED", "the practitioner has another appointment at that time");
  if (isPatientBusy) throw taken("PATIENT_OVERLAP", "the patient has another appointment at that time");
  if (!hasCapacity) throw taken("CAPACITY_EXHAUSTED", "the capacity of the day is used up");
  return { slot, locationId };
}

/** 410: the option is no longer on offer. */
export function optionGone(): CupoError {
  return new CupoError("OPTION_EXPIRED", { detail: "The option is no longer on offer. Search for options again." });
}

/** Looks at both people and takes the capacity in one round trip; where either is busy the transaction takes it back. */
function tryToTake(
  transaction: Transaction,
  slot: SlotRecord,
  { held }: LockedOption,
  { patientId, appointmentId }: Taker,
): Promise<[boolean, boolean, boolean]> {
  return Promise.all([
    hasOverlap(transaction, { practitionerId: slot.practitionerId }, slot, appointmentId),
    hasOverlap(transaction, { patientId }, slot, appointmentId),
    exchangeCapacity(transaction, slot, held),
  ]);
}

/**
 * Takes a unit for the new slot and gives back that of the old one; one day has to do neither. False where none is left.
 * The counters are locked in one order, or two appointments that change places would wait for each other.
 */
function exchangeCapacity(transaction: Transaction, slot: DayOfRule, held: DayOfRule | undefined): Promise<boolean> {
  if (held === undefined) return takeCapacity(transaction, slot);
  const [old, wanted] = [dayKey(held), dayKey(slot)];
  if (old === wanted) return Promise.resolve(true);
  if (old < wanted) giveCapacityBack(transaction, held);
  const isTaken = takeCapacity(transaction, slot);
  if (old > wanted) giveCapacityBack(transaction, held);
  return isTaken;
}

function dayKey({ ruleId, localDate }: DayOfRule): string {
  return `${ruleId} ${localDate}`;
}

function taken(code: FieldErrorCode, message: string): CupoError {
  return conflict({ code, field: "optionToken", message });
}

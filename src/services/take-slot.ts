import type { ContextValues } from "@connectrpc/connect";
import { type Transaction, transactionOf } from "../call.js";
import { CupoError, conflict, type FieldErrorCode, validationFailed } from "../errors.js";
import type { OpenedOption, OpenedToken } from "../option-tokens/option-tokens.js";
import { hasOverlap } from "../postgres/appointments.js";
import {
  consumeToken,
  type DayOfRule,
  lockPractitioner,
  lockSlots,
  type SlotRecord,
  sendCapacityBack,
  takeCapacity,
} from "../postgres/slots.js";

/** Who is to have the slot of an option. */
export interface Taker {
  readonly patientId: string;
  /** The appointment that moves, which does not stand in its own way; undefined for a new one. */
  readonly appointmentId: string | undefined;
  /** The slot that it has now. */
  readonly held: SlotRecord | undefined;
}

/** The option of a token, if it is for this request: 422 for one that is not, 410 for one that is too old. */
export function requireOption(opened: OpenedToken, isFor: (option: OpenedOption) => boolean): OpenedOption {
  if (opened.kind === "EXPIRED") throw optionGone();
  if (opened.kind === "OPTION" && isFor(opened.option)) return opened.option;
  const message = "the token is not one that was given for this request";
  throw validationFailed([{ code: "INVALID_OPTION", field: "optionToken", message }]);
}

/**
 * Takes the slot of an option, whose program the transaction has locked: uses the token up, locks the slots in the order of
 * their ids, then the practitioner, and takes a unit of the day's capacity for the one that is held, in this order
 * everywhere. 410 for a token that was used before or whose
 * slot is withdrawn or made anew; 409 for a slot or a day that is taken, and where the patient is expected elsewhere.
 */
export async function takeSlot(
  values: ContextValues,
  option: OpenedOption,
  taker: Taker,
  nowMs: number,
): Promise<SlotRecord> {
  const transaction = transactionOf(values);
  const ids = taker.held === undefined ? [option.slotId] : [option.slotId, taker.held.id];
  const [isFresh, slots] = await Promise.all([
    consumeToken(transaction, option.jti, new Date(option.expiresAtMs)),
    lockSlots(transaction, ids),
  ]);
  const slot = slots.find(({ id }) => id === option.slotId);
  const isOffered = slot !== undefined && slot.generation === option.generation && !slot.retained;
  if (!isFresh || !isOffered || slot.startsAt.getTime() <= nowMs) throw optionGone();
  if (slot.appointmentId !== null) throw taken("SLOT_OCCUPIED", "the slot was taken by another appointment");
  await requireFreePeople(values, slot, taker);
  if (!(await exchangeCapacity(transaction, slot, taker.held))) {
    throw taken("CAPACITY_EXHAUSTED", "the capacity of the day is used up");
  }
  return slot;
}

/** 410: the option is no longer on offer. */
export function optionGone(): CupoError {
  return new CupoError("OPTION_EXPIRED", { detail: "The option is no longer on offer. Search for options again." });
}

async function requireFreePeople(
  values: ContextValues,
  slot: SlotRecord,
  { patientId, appointmentId }: Taker,
): Promise<void> {
  const transaction = transactionOf(values);
  const [, isPractitionerBusy, isPatientBusy] = await Promise.all([
    lockPractitioner(transaction, slot.practitionerId),
    hasOverlap(transaction, { practitionerId: slot.practitionerId }, slot, appointmentId),
    hasOverlap(transaction, { patientId }, slot, appointmentId),
  ]);
  if (isPractitionerBusy) throw taken("SLOT_OCCUPIED", "the practitioner has another appointment at that time");
  if (isPatientBusy) throw taken("PATIENT_OVERLAP", "the patient has another appointment at that time");
}

/**
 * Takes a unit for the new slot and gives back that of the old one; one day has to do neither. False where none is left.
 * The counters are locked in one order, or two appointments that change places would wait for each other.
 */
async function exchangeCapacity(
  transaction: Transaction,
  slot: DayOfRule,
  held: DayOfRule | undefined,
): Promise<boolean> {
  if (held === undefined) return takeCapacity(transaction, slot);
  const [old, wanted] = [dayKey(held), dayKey(slot)];
  if (old === wanted) return true;
  const givesFirst = old < wanted;
  if (givesFirst) sendCapacityBack(transaction, held);
  const isTaken = await takeCapacity(transaction, slot);
  if (!givesFirst) sendCapacityBack(transaction, held);
  return isTaken;
}

function dayKey({ ruleId, localDate }: DayOfRule): string {
  return `${ruleId} ${localDate}`;
}

function taken(code: FieldErrorCode, message: string): CupoError {
  return conflict({ code, field: "optionToken", message });
}

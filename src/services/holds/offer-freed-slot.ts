import type { Principal, Transaction } from "../../call.js";
import { appendServiceAudit, SERVICE_PRINCIPAL } from "../../postgres/audit.js";
import {
  findOfferableSlot,
  findWaitingEntries,
  type OfferableSlot,
  type WaitingEntry,
} from "../../postgres/tables/holds/offerable-slots.js";
import { deferFreedSlot, stopOffers } from "../../postgres/tables/schedule/freed-slots.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { periodOf } from "../../scheduling/day-periods.js";
import { instantMsOf } from "../../scheduling/local-clock.js";
import { isOfferable, waitingOrder } from "../../scheduling/waiting-order.js";
import { newId } from "../../uuid.js";
import { type HoldingCall, MAX_OF_PATIENT, takeOption } from "./take-option.js";

/** The name of the operation in the audit trail. */
const OPERATION = "offer_freed_slot";

/** After how many milliseconds a job looks again at an outdated slot. */
const RETRY_OUTDATED_MS = 60_000;

/**
 * Offers a freed slot to the first waitlist entry in the order of `waitingOrder`: holds the slot for the patient and
 * writes an OFFERED event of the entry. Returns whether it offered the slot.
 *
 * Stops the offers of the slot ({@link stopOffers}) in these cases:
 * - The tenant has not set `freedSlotOfferMinutes`.
 * - The schedule does not have the slot.
 * - It is too late for an offer ({@link isTooLate}).
 *
 * Otherwise sets the time at which a job calls this function again:
 * - after an offer: when the hold of the offer expires
 * - if the slot is beyond the horizon of the program: when the horizon reaches the slot
 * - if the slot is outdated (a change of the program was not yet applied to it): a minute later
 * - if holds prevent the offer: when these holds expire
 * - otherwise (no entry fits, or the slot is not open, see {@link OfferableSlot}): when the slot starts, so that the
 *   job stops the offers
 *
 * Throws a CupoError if the slot, the patient or the waitlist entry changed after they were read.
 */
export async function offerFreedSlot(transaction: Transaction, slotId: string, nowMs: number): Promise<boolean> {
  const [{ freedSlotOfferMinutes: minutes }, slot] = await Promise.all([
    findTenantSettings(transaction),
    findOfferableSlot(transaction, slotId, nowMs),
  ]);
  if (minutes === undefined || slot === undefined || isTooLate(slot, nowMs, minutes)) {
    stopOffers(transaction, slotId, new Date(nowMs));
    return false;
  }
  const later = offerableLater(slot, nowMs);
  const first = slot.isOpen && later === undefined ? await findFirst(transaction, slot, nowMs) : undefined;
  if (first === undefined) {
    deferFreedSlot(transaction, slotId, later ?? slot.startsAt, []);
    return false;
  }
  await offer(transaction, slot, first, { minutes, nowMs });
  return true;
}

/**
 * Returns whether it is too late to offer a slot. `minutes` is how long the offer would last. It is too late if:
 * - the offer would end less than an hour before the slot starts
 * - the slot starts sooner than the minimum notice of its program allows
 */
function isTooLate({ startsAt, offeredUntil }: OfferableSlot, nowMs: number, minutes: number): boolean {
  return !isOfferable(startsAt.getTime(), nowMs, minutes) || offeredUntil.getTime() < nowMs;
}

/** Returns when a job must look at the slot again, if the slot cannot be offered now but perhaps then. */
function offerableLater(slot: OfferableSlot, nowMs: number): Date | undefined {
  if (slot.offeredFrom.getTime() > nowMs) return slot.offeredFrom;
  if (slot.isOpen && !slot.isUpToDate) return new Date(nowMs + RETRY_OUTDATED_MS);
  return slot.heldUntil;
}

async function findFirst(
  transaction: Transaction,
  { slotId, localDate, startsAt }: OfferableSlot,
  nowMs: number,
): Promise<WaitingEntry | undefined> {
  const secondOfDay = (startsAt.getTime() - instantMsOf(localDate, 0)) / 1_000;
  const wanted = { nowMs, period: periodOf(secondOfDay), maxHolds: MAX_OF_PATIENT };
  const entries = await findWaitingEntries(transaction, slotId, wanted);
  return entries.toSorted(waitingOrder(localDate))[0];
}

async function offer(
  transaction: Transaction,
  { slotId, generation, locationId, emergency, startsAt, endsAt, organizationId, companyId }: OfferableSlot,
  { id: waitlistEntryId, version, patientId, serviceId }: WaitingEntry,
  { minutes, nowMs }: { readonly minutes: number; readonly nowMs: number },
): Promise<void> {
  const { tenantId } = transaction;
  const call: HoldingCall = {
    transaction,
    principal: serviceOf(tenantId, { organizationId, companyId }),
    newId,
    effects: [],
  };
  const option = {
    jti: newId(),
    slotId,
    minutes: (endsAt.getTime() - startsAt.getTime()) / 60_000,
    generation,
    serviceId,
    locationId,
    emergency,
    subject: { kind: "PATIENT", id: patientId } as const,
    visitMinutes: undefined,
    holdId: undefined,
    expiresAtMs: startsAt.getTime(),
  };
  const terms = { perPrincipal: undefined, waitlistEntryId, minutes, nowMs };
  const { hold } = await takeOption(option, call, terms, (error) => error);
  deferFreedSlot(transaction, slotId, hold.expiresAt, [waitlistEntryId]);
  call.effects.push({ resourceType: "WaitlistEntry", resourceId: waitlistEntryId, action: "OFFERED", version });
  for (const effect of call.effects) transaction.send(appendServiceAudit(effect, tenantId, OPERATION));
}

/** Returns a principal for changes that Cupo makes itself, with the given organization and company. */
function serviceOf(tenantId: string, owner: Pick<Principal, "organizationId" | "companyId">): Principal {
  return { id: SERVICE_PRINCIPAL, issuer: "", clientId: SERVICE_PRINCIPAL, tenantId, scopes: new Set(), ...owner };
}

import type { Transaction } from "../../call.js";
import { conflict, type FieldError, validationFailed } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import type { AppointmentPlacement } from "../../postgres/tables/appointments/appointments.js";
import type { BusyPeople } from "../../postgres/tables/appointments/busy-people.js";
import { countedDay, type DayOfRule } from "../../postgres/tables/appointments/day-counters.js";
import type { Offer } from "../../postgres/tables/appointments/offers.js";
import { exchangeCapacity, isSameDay } from "../../postgres/tables/capacities.js";
import { type HoldRecord, isLiveHold } from "../../postgres/tables/holds/holds.js";
import type { Locked } from "../../postgres/tables/locks.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { capacityExhausted, goneOr, isAny, type NamedConflicts, refusalOf, timeConflicts } from "./time-conflicts.js";

/** The locked rows and the data that were read for an option. `busy` is undefined if the token holds no option. */
export interface LookedUpOption {
  readonly locked: Locked;
  readonly busy: BusyPeople | undefined;
  /**
   * The offer of the service in the first slot for this caller, see {@link findOffer}. Undefined if there is none now,
   * or if the token holds no option.
   */
  readonly offer: Offer | undefined;
  /** Minutes of the visit without the buffer after it; undefined if there is no buffer. */
  readonly visitMinutes?: number | undefined;
}

/** Adjacent slots for an appointment, and the placement of the appointment in them. */
export interface TakenSlots {
  readonly slots: readonly SlotRecord[];
  readonly placement: AppointmentPlacement;
}

/** The known conflicts of an appointment, and the unit of capacity that it already uses, for {@link takeTime}. */
export interface TimeTerms {
  /** The conflicts that the caller has already found. If there are any, {@link takeTime} throws an error with them. */
  readonly found: readonly FieldError[];
  readonly named: NamedConflicts;
  /** The day on which the appointment already uses a unit of capacity; undefined if there is none. */
  readonly heldDay: DayOfRule | undefined;
  readonly nowMs: number;
  /** The hold whose time the appointment takes; undefined if there is none. */
  readonly hold?: HoldRecord | undefined;
}

/** The known conflicts of an appointment, for {@link takeSlots}. */
export interface OptionTerms extends Pick<TimeTerms, "found" | "named" | "nowMs"> {
  /** The limits of the tenant that the patient would exceed. They do not matter if the option is gone. */
  readonly limits: readonly FieldError[];
}

/**
 * Returns the option of a token. Throws 422 if the token is invalid or its option does not fit the request (`isFor`).
 * If the option fits but the token has expired, throws 409 with the conflicts in `found`, or 410 if `found` is empty.
 */
export function requireOption(
  opened: OpenedToken,
  isFor: (option: OptionClaims) => boolean,
  found: readonly FieldError[] = [],
): OptionClaims {
  const option = requireFitting(opened, isFor, "optionToken");
  if (opened.kind === "EXPIRED") throw goneOr(found);
  return option;
}

/**
 * Returns the option of a token, expired or not. Throws 422 on `field` if the token is invalid or its option does not
 * fit the request (`isFor`).
 */
export function requireFitting(
  opened: OpenedToken,
  isFor: (option: OptionClaims) => boolean,
  field: string,
): OptionClaims {
  if (opened.kind === "INVALID" || !isFor(opened.option)) {
    const message =
      "the value is not an option token for this request: search for options with the same patient or appointment and service";
    throw validationFailed([{ code: "INVALID_OPTION", field, message }]);
  }
  return opened.option;
}

/**
 * Returns the time for the check of an option against the minimum notice and the horizon of its program. Returns
 * undefined for an option with a hold: it was checked when the hold was created.
 */
export function offeredAt({ holdId }: OptionClaims, nowMs: number): Date | undefined {
  return holdId === undefined ? new Date(nowMs) : undefined;
}

/**
 * Checks the locked slots of an option and takes one unit of the day's capacity for them, see {@link takeTime}. Returns
 * the slots, which the caller must occupy.
 *
 * Throws, in this order:
 * - if the option is gone ({@link requireSlots}): 409 with the conflicts in `found`, or 410 if `found` is empty
 * - 409 with the conflicts in `found` and `limits`, and the conflicts at the time of the slots
 *
 * Without conflicts, the RPC fails later with 409 if the day has no capacity left.
 */
export async function takeSlots(
  transaction: Transaction,
  option: OptionClaims,
  looked: LookedUpOption,
  { found, limits, named, nowMs }: OptionTerms,
): Promise<TakenSlots> {
  const { occupiedSlots, hold } = looked.locked;
  const { slots, placement, conflicting } = requireSlots(option, looked, occupiedSlots, nowMs, found);
  const heldDay = countedDay(occupiedSlots[0]);
  const terms = { found: [...found, ...limits, ...conflicting], named, heldDay, nowMs, hold };
  await takeTime(transaction, placement, terms, "optionToken");
  return { slots, placement };
}

/**
 * Returns the locked slots of an option, the placement of the appointment in them, and the conflicts at the time of the
 * slots. Does not check the capacity of the day. `occupiedSlots` are the slots of the appointment to move.
 *
 * If the option is gone, throws 409 with the conflicts in `found`, or 410 if `found` is empty. It is gone if:
 * - the token was already used or has expired, or its hold has ended or expired
 * - a slot has started, or the practitioner is not active
 * - the principal is not offered the service in the first slot now ({@link findOffer})
 * - the slots or the offer of the service have changed since the search
 */
export function requireSlots(
  option: OptionClaims,
  { locked, offer, busy, visitMinutes }: LookedUpOption,
  occupiedSlots: readonly SlotRecord[],
  nowMs: number,
  found: readonly FieldError[] = [],
): TakenSlots & { readonly conflicting: readonly FieldError[] } {
  const { slots, hold } = locked;
  if (!locked.isTokenFresh || nowMs >= option.expiresAtMs) throw goneOr(found);
  if (!isSameRun(slots, option, nowMs)) throw goneOr(found);
  if (option.holdId !== undefined && (hold === undefined || !isLiveHold(hold, nowMs))) throw goneOr(found);
  if (offer === undefined || !isSameOffer(offer, option) || !locked.isPractitionerActive) throw goneOr(found);
  if (busy === undefined) throw new Error("the busy times for the option were not read");
  const conflicting = timeConflicts({ slots, ownSlots: occupiedSlots, busy }, "optionToken");
  return { slots, placement: placementOf(slots, offer.locationId, visitMinutes), conflicting };
}

/**
 * Whether slots are adjacent and together last at least `minutes`. The slots must be ordered by start. Returns false
 * without slots.
 */
export function fill([first, ...others]: readonly SlotRecord[], minutes: number): boolean {
  if (first === undefined) return false;
  let end = first.endsAt.getTime();
  for (const { startsAt, endsAt } of others) {
    if (startsAt.getTime() !== end) return false;
    end = endsAt.getTime();
  }
  return end - first.startsAt.getTime() >= minutes * 60_000;
}

/**
 * Returns the placement of an appointment that occupies these slots. The slots must be adjacent and ordered by start.
 * The visit takes the first slots that cover `visitMinutes`; the other slots are the buffer. Without `visitMinutes`
 * there is no buffer. Throws an error if there are no slots.
 */
export function placementOf(
  slots: readonly SlotRecord[],
  locationId: string,
  visitMinutes: number | undefined,
): AppointmentPlacement {
  const [first] = slots;
  if (first === undefined) throw new Error("an appointment must have at least one slot");
  const [last = first] = slots.toReversed();
  const { programId, ruleId, practitionerId, localDate, startsAt } = first;
  const visitEndsAt = visitMinutes === undefined ? undefined : visitEndIn(slots, visitMinutes);
  const place = { programId, ruleId, practitionerId, locationId, localDate };
  return { ...place, startsAt, endsAt: last.endsAt, visitEndsAt };
}

/**
 * Returns the end of the first slot that ends at or after the end of the visit. If all slots together are shorter than
 * the visit, returns the end of the last slot. Returns undefined without slots. The slots must be adjacent and ordered
 * by start.
 */
export function visitEndIn(slots: readonly SlotRecord[], visitMinutes: number): Date | undefined {
  const [first] = slots;
  if (first === undefined) return undefined;
  const endMs = first.startsAt.getTime() + visitMinutes * 60_000;
  return (slots.find(({ endsAt }) => endsAt.getTime() >= endMs) ?? slots.at(-1))?.endsAt;
}

/**
 * Takes one unit of the capacity of the placement's day, and frees the unit of `heldDay`, if there is one. Exceptions:
 * - A placement without a rule uses no capacity. Then no unit is taken or freed.
 * - If `heldDay` is the same day of the same rule, the appointment keeps its unit. A unit of `hold` is freed.
 * - Otherwise, if `hold` uses a unit, the appointment gets that unit and takes no other.
 *
 * Throws 409 on `field` if `found` has conflicts. Otherwise, if no capacity is left, the RPC fails with 409 on `field`
 * after this function has returned.
 */
export async function takeTime(
  transaction: Transaction,
  placement: AppointmentPlacement,
  { found, named, heldDay, nowMs, hold }: TimeTerms,
  field: string,
): Promise<void> {
  const day = countedDay(placement);
  const heldUntil = hold?.usesUnit === true ? hold.expiresAt : undefined;
  if (isAny(found)) {
    const unit = heldUntil === undefined && !isSameDay(day, heldDay) ? day : undefined;
    throw await refusalOf(transaction, found, { day: unit, nowMs, named }, field);
  }
  if (day === undefined) return;
  exchangeCapacity(transaction, day, heldDay, { nowMs, heldUntil }, () => conflict(capacityExhausted(field)));
}

function isSameRun(slots: readonly SlotRecord[], option: OptionClaims, nowMs: number): boolean {
  if (!fill(slots, option.minutes) || slots.some(({ startsAt }) => startsAt.getTime() <= nowMs)) return false;
  return Math.max(...slots.map(({ generation }) => generation)) === option.generation;
}

function isSameOffer({ locationId, emergency }: Offer, option: OptionClaims): boolean {
  return locationId === option.locationId && emergency === option.emergency;
}

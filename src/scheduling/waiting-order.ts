import { dayNumberOf } from "./local-date.js";

/** The attributes of a waitlist entry that decide which entry is offered a slot first. Dates are local, YYYY-MM-DD. */
export interface Waiting {
  readonly id: string;
  /** The date on which the patient asked for the appointment. */
  readonly requestedOn: string;
  /** The last date of the allowed wait; undefined for no limit. */
  readonly dueOn: string | undefined;
  /** The first date on which the patient wants the appointment. */
  readonly dateFrom: string;
}

const MINUTE_MS = 60_000;
/**
 * The minimum time from the end of an offer to the start of its slot. In this time, the slot can still be given to
 * another patient.
 */
const NOTICE_MINUTES = 60;

/**
 * Whether an offer of a slot can stay open for `minutes` minutes from now. It must end at least an hour before the slot
 * begins.
 */
export function isOfferable(startsAtMs: number, nowMs: number, minutes: number): boolean {
  return startsAtMs - nowMs >= (minutes + NOTICE_MINUTES) * MINUTE_MS;
}

/**
 * Returns a compare function for sort(). It sorts waitlist entries in the order in which they are offered a slot on
 * `slotDate`. If two entries are equal in one of these, the next one decides:
 * - `requestedOn`: the earlier date comes first.
 * - `dueOn`: the earlier date comes first. Entries without a due date come last.
 * - `dateFrom`: the date that is closer to `slotDate` comes first.
 * - `id`: the lower id comes first.
 */
export function waitingOrder(slotDate: string): (one: Waiting, other: Waiting) => number {
  const slotDay = dayNumberOf(slotDate);
  const distance = ({ dateFrom }: Waiting) => Math.abs(slotDay - dayNumberOf(dateFrom));
  return (one, other) =>
    compare(one.requestedOn, other.requestedOn) ||
    compare(one.dueOn ?? NEVER, other.dueOn ?? NEVER) ||
    distance(one) - distance(other) ||
    compare(one.id, other.id);
}

/** Stands for a missing due date. This text sorts after every local date. */
const NEVER = "~";

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

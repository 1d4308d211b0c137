import { localDateAt } from "./local-clock.js";
import { addCalendarDays, earlierDate, laterDate } from "./local-date.js";

/** A span of local dates in America/Bogota, YYYY-MM-DD, both inclusive. */
export interface DateSpan {
  readonly from: string;
  readonly through: string;
}

/** Returns the dates that two ranges have in common; undefined if there are none. */
export function commonDates(one: DateSpan, other: DateSpan): DateSpan | undefined {
  const [from, through] = [laterDate(one.from, other.from), earlierDate(one.through, other.through)];
  return from <= through ? { from, through } : undefined;
}

/** Schedules are made for today and at least this many days after it. This is also the default horizon of a tenant. */
export const HORIZON_DAYS = 90;

/** The maximum horizon of a tenant or a program, in days after today. */
export const MAX_HORIZON_DAYS = 400;

/** Returns the dates from today to the date `days` days after today. */
export function horizonFrom(nowMs: number, days = HORIZON_DAYS): DateSpan {
  const today = localDateAt(nowMs);
  return { from: today, through: addCalendarDays(today, days) };
}

/** How many days ahead a program can be booked, and the last date of the existing slots of its rules. */
export interface Reach {
  /** For how many days after today the program can be booked. */
  readonly horizonDays: number;
  /**
   * The last local date, YYYY-MM-DD, that existing slots of the program's rules can have. If undefined, no slot is
   * after the default horizon ({@link HORIZON_DAYS}).
   */
  readonly slotsThrough: string | undefined;
}

/** Returns for how many days after today the schedule of a program is made. */
export function plannedDays({ horizonDays }: Pick<Reach, "horizonDays">): number {
  return Math.max(horizonDays, HORIZON_DAYS);
}

/** Returns the last local date for which the schedule of a program is made. */
export function plannedThrough(reach: Pick<Reach, "horizonDays">, nowMs: number): string {
  return horizonFrom(nowMs, plannedDays(reach)).through;
}

/**
 * Returns the dates on which slots of rules can change when the program changes. If the horizon was shortened, the
 * result includes later dates that still have such slots.
 */
export function changeableSpan(reach: Reach, nowMs: number): DateSpan {
  const planned = horizonFrom(nowMs, plannedDays(reach));
  const { slotsThrough = planned.through } = reach;
  return { from: planned.from, through: laterDate(slotsThrough, planned.through) };
}

/** Returns the dates that can have slots if a program has the maximum horizon. */
export function widestSpan(nowMs: number): DateSpan {
  return horizonFrom(nowMs, MAX_HORIZON_DAYS);
}

/**
 * Returns the dates whose slots are updated in the transaction that changes the rules or practitioners of a program:
 * - If the horizon of the program is longer than {@link HORIZON_DAYS} days: today and the {@link HORIZON_DAYS} days
 *   after it. Jobs update the later dates, so that a change takes no longer with a longer horizon.
 * - Otherwise: all dates whose slots can change ({@link changeableSpan}).
 */
export function datesChangedAtOnce(reach: Reach, nowMs: number): DateSpan {
  const near = horizonFrom(nowMs);
  return near.through < plannedThrough(reach, nowMs) ? near : changeableSpan(reach, nowMs);
}

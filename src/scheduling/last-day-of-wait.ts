import { addCalendarDays, dayNumberOf } from "./local-date.js";

/** How many days somebody may wait, and which days count. */
export interface WaitLimit {
  /** 1 to 3650. */
  readonly maxWaitDays: number;
  /** BUSINESS counts Monday to Friday, but for holidays; CALENDAR counts every day. */
  readonly dayKind: "BUSINESS" | "CALENDAR";
}

const FIRST_DATE = "0001-01-01";
const WORKDAYS = 5;

/**
 * The last local date on which a wait that begins on a date keeps to its limit. The day of the request is not counted: with
 * one business day, what is asked for on a Friday may be had on Monday. `holidays` are dates in ascending order. Computed by
 * weeks and holidays, not day by day; 9999-12-31 at the latest.
 */
export function lastDayOfWait(from: string, { maxWaitDays, dayKind }: WaitLimit, holidays: readonly string[]): string {
  if (dayKind === "CALENDAR") return addCalendarDays(from, maxWaitDays);
  const start = dayNumberOf(from);
  let target = workdaysThrough(start) + maxWaitDays;
  for (const holiday of holidays.map(dayNumberOf)) {
    if (holiday > workdayNumbered(target)) break;
    if (holiday > start && holiday % 7 < WORKDAYS) target += 1;
  }
  return addCalendarDays(FIRST_DATE, workdayNumbered(target));
}

/** How many days from Monday to Friday there are up to a day, itself included; day 0 was a Monday. */
function workdaysThrough(day: number): number {
  return Math.floor((day + 1) / 7) * WORKDAYS + Math.min((day + 1) % 7, WORKDAYS);
}

/** The day that is the n-th, from 1, of those from Monday to Friday. */
function workdayNumbered(n: number): number {
  return Math.floor((n - 1) / WORKDAYS) * 7 + ((n - 1) % WORKDAYS);
}

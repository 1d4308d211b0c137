import { addCalendarDays, dayNumberOf } from "./local-date.js";

/** The longest allowed wait, and which days count. */
export interface WaitLimit {
  /** Number of days, 1 to 3650. `dayKind` defines which days count. */
  readonly maxWaitDays: number;
  /** BUSINESS counts Monday to Friday without holidays; CALENDAR counts every day. */
  readonly dayKind: "BUSINESS" | "CALENDAR";
}

const FIRST_DATE = "0001-01-01";
const WORKDAYS = 5;

/**
 * Returns the last local date within the limit of a wait that begins on `from`. The first day is not counted: with a
 * limit of one business day, the last day for a request on Friday is Monday. `holidays` are dates in ascending order.
 * The result is 9999-12-31 at the latest.
 */
export function lastDayOfWait(from: string, { maxWaitDays, dayKind }: WaitLimit, holidays: readonly string[]): string {
  if (dayKind === "CALENDAR") return addCalendarDays(from, maxWaitDays);
  let target = workdaysThrough(dayNumberOf(from)) + maxWaitDays;
  for (const date of holidays) {
    if (date <= from) continue;
    const holiday = dayNumberOf(date);
    if (holiday > workdayNumbered(target)) break;
    if (holiday % 7 < WORKDAYS) target += 1;
  }
  return addCalendarDays(FIRST_DATE, workdayNumbered(target));
}

/** Counts the workdays, Monday to Friday, from day 0 to `day`, both included. Day 0 is a Monday. */
function workdaysThrough(day: number): number {
  return Math.floor((day + 1) / 7) * WORKDAYS + Math.min((day + 1) % 7, WORKDAYS);
}

/** Returns the day number of the n-th workday, Monday to Friday. The first workday (`n` is 1) is day 0, a Monday. */
function workdayNumbered(n: number): number {
  return Math.floor((n - 1) / WORKDAYS) * 7 + ((n - 1) % WORKDAYS);
}

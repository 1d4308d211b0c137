import * as PlainDate from "temporal-polyfill/fns/PlainDate";

/** The last date that RFC 3339 and a Timestamp can represent. */
const lastLocalDate = "9999-12-31";

/** The first local date that the service accepts. */
export const firstLocalDate = "0001-01-01";
const localDate = /^(?!0000)(\d{4})-(\d\d)-(\d\d)$/;

/**
 * Parses a calendar date from YYYY-MM-DD. Throws RangeError for any other text and for days that do not exist. Other
 * code keeps dates as text: years are 0001 to 9999, so texts sort in the order of the dates.
 */
export function parseLocalDate(text: string): PlainDate.Record {
  const [match, year, month, day] = localDate.exec(text) ?? [];
  if (match === undefined) throw new RangeError("not a local date");
  return PlainDate.create(Number(year), Number(month), Number(day));
}

/** Whether the text is a date that exists, written YYYY-MM-DD. */
export function isLocalDate(text: string): boolean {
  try {
    parseLocalDate(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the ISO 8601 weekday of a local date: 1 is Monday, 7 is Sunday. */
export function weekdayOf(date: string): number {
  return PlainDate.dayOfWeek(parseLocalDate(date));
}

/**
 * Returns the date `days` days later, 9999-12-31 at the latest. Throws RangeError if `days` is negative or not a whole
 * number.
 */
export function addCalendarDays(date: string, days: number): string {
  if (!Number.isInteger(days) || days < 0) throw new RangeError("not a number of days");
  const start = parseLocalDate(date);
  const daysLeft = PlainDate.diffDays(start, parseLocalDate(lastLocalDate));
  return days < daysLeft ? PlainDate.toString(PlainDate.addDays(start, days)) : lastLocalDate;
}

/** Returns the earlier of two dates. */
export function earlierDate(one: string, other: string): string {
  return one < other ? one : other;
}

/** Returns the later of two dates. */
export function laterDate(one: string, other: string): string {
  return one > other ? one : other;
}

/**
 * Returns the date with the same month and day `years` years later, or earlier if `years` is negative. For 29 February,
 * the result is 28 February if the resulting year is not a leap year.
 */
export function yearsAfter(date: string, years: number): string {
  return PlainDate.toString(PlainDate.addYears(parseLocalDate(date), years));
}

/** Returns the previous date. Throws RangeError for 0001-01-01. */
export function previousDate(date: string): string {
  if (date === firstLocalDate) throw new RangeError("no date before the first");
  return PlainDate.toString(PlainDate.subtractDays(parseLocalDate(date), 1));
}

/** Returns the number of days from 0001-01-01, a Monday, to a date. */
export function dayNumberOf(date: string): number {
  return PlainDate.diffDays(parseLocalDate(firstLocalDate), parseLocalDate(date));
}

/**
 * Counts the days that fall on these ISO weekdays, from one {@link dayNumberOf} number to another, both included. The
 * time of the calculation does not depend on the length of the range.
 */
export function countDaysOn(weekdays: Iterable<number>, from: number, to: number): number {
  if (from > to) return 0;
  let count = 0;
  for (const weekday of weekdays) count += Math.floor((to + 8 - weekday) / 7) - Math.floor((from + 7 - weekday) / 7);
  return count;
}

/** Counts the dates that fall on these ISO weekdays, from one date to another, both included. */
export function countDatesOn(weekdays: ReadonlySet<number>, from: string, to: string): number {
  return countDaysOn(weekdays, dayNumberOf(from), dayNumberOf(to));
}

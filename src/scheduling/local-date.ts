import * as PlainDate from "temporal-polyfill/fns/PlainDate";

/** The last date that the contract, RFC 3339 and a Timestamp can say. */
export const lastLocalDate = "9999-12-31";

const firstLocalDate = "0001-01-01";
const localDate = /^(?!0000)(\d{4})-(\d\d)-(\d\d)$/;

/**
 * The calendar date that YYYY-MM-DD stands for. Throws RangeError for other text and for days that do not exist. Within
 * these years, 0001 to 9999, the text itself sorts as the dates do, which is why dates stay text elsewhere.
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

/** The ISO 8601 weekday of a local date: 1 is Monday, 7 is Sunday. */
export function weekdayOf(date: string): number {
  return PlainDate.dayOfWeek(parseLocalDate(date));
}

/**
 * The date so many days on, 9999-12-31 at the latest. Throws RangeError for a number of days that is not whole or is
 * negative.
 */
export function addCalendarDays(date: string, days: number): string {
  if (!Number.isInteger(days) || days < 0) throw new RangeError("not a number of days");
  const start = parseLocalDate(date);
  const daysLeft = PlainDate.diffDays(start, parseLocalDate(lastLocalDate));
  return days < daysLeft ? PlainDate.toString(PlainDate.addDays(start, days)) : lastLocalDate;
}

/** The date before another; the first that there is has none, and throws RangeError. */
export function previousDate(date: string): string {
  if (date === firstLocalDate) throw new RangeError("no date before the first");
  return PlainDate.toString(PlainDate.subtractDays(parseLocalDate(date), 1));
}

/** How many dates lie before a date, from 0001-01-01 on, which was a Monday. */
export function dayNumberOf(date: string): number {
  return PlainDate.diffDays(parseLocalDate(firstLocalDate), parseLocalDate(date));
}

/** How many days from one to another, both included and both {@link dayNumberOf}, fall on these ISO weekdays; counted, not walked. */
export function countDaysOn(weekdays: Iterable<number>, from: number, to: number): number {
  if (from > to) return 0;
  let count = 0;
  for (const weekday of weekdays) count += Math.floor((to + 8 - weekday) / 7) - Math.floor((from + 7 - weekday) / 7);
  return count;
}

/** How many dates from one to another, both included, fall on these ISO weekdays. */
export function countDatesOn(weekdays: ReadonlySet<number>, from: string, to: string): number {
  return countDaysOn(weekdays, dayNumberOf(from), dayNumberOf(to));
}

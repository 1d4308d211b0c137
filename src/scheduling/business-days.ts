import { addCalendarDays, requireDays, weekdayOf } from "./local-date.js";

const friday = 5;

/**
 * The date so many business days after another, 9999-12-31 at the latest. Business days are Monday to Friday but for
 * `holidays`, the dates of the tenant's active holidays. Counting begins on the day after `date`, which need not be a
 * business day itself; no days give `date`. The cost grows with the holidays, not with the days. Throws RangeError for a
 * number of days that is not whole or is negative.
 */
export function addBusinessDays(date: string, days: number, holidays: ReadonlySet<string>): string {
  requireDays(days);
  if (days === 0) return date;
  let end = addWorkdays(date, days);
  for (const holiday of [...holidays].toSorted()) {
    if (date < holiday && holiday <= end && weekdayOf(holiday) <= friday) end = addWorkdays(end, 1);
  }
  return end;
}

/** Counts Monday to Friday, at least one day, in weeks of five from the Monday of the date's week. */
function addWorkdays(date: string, days: number): string {
  const weekday = weekdayOf(date);
  const fromMonday = Math.min(weekday, friday) - 1 + days;
  return addCalendarDays(date, Math.floor(fromMonday / 5) * 7 + (fromMonday % 5) - (weekday - 1));
}

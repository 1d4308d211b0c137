import { localDateAt } from "./local-clock.js";
import { addCalendarDays } from "./local-date.js";

/** A span of local dates in America/Bogota, YYYY-MM-DD, both inclusive. */
export interface DateSpan {
  readonly from: string;
  readonly through: string;
}

/** Schedules are made for today and this many days after it. */
export const HORIZON_DAYS = 90;

/**
 * Returns the dates from today to the horizon. Schedules are made for these dates, and options are searched on them.
 */
export function horizonFrom(nowMs: number): DateSpan {
  const today = localDateAt(nowMs);
  return { from: today, through: addCalendarDays(today, HORIZON_DAYS) };
}

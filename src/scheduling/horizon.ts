import { localDateAt } from "./local-clock.js";
import { addCalendarDays } from "./local-date.js";

/** Dates of a schedule, YYYY-MM-DD, local in America/Bogota, both inclusive. */
export interface DateSpan {
  readonly from: string;
  readonly through: string;
}

/** How many days ahead schedules are made. */
export const HORIZON_DAYS = 90;

/** The dates from today to the horizon: those that schedules are made for and options are searched on. */
export function horizonFrom(nowMs: number): DateSpan {
  const today = localDateAt(nowMs);
  return { from: today, through: addCalendarDays(today, HORIZON_DAYS) };
}

import { instantMsOf, localDateAt } from "./local-clock.js";
import { addCalendarDays, dayNumberOf, firstLocalDate } from "./local-date.js";
import { secondsPerDay } from "./local-time.js";

/**
 * Returns how many seconds the local clock advances from one instant to another: 86,400 for each day, plus the
 * difference of the local times. A clock change between the instants does not count. Instants are in milliseconds since
 * the epoch.
 */
export function localShift(fromMs: number, toMs: number): number {
  return localSecondsAt(toMs) - localSecondsAt(fromMs);
}

/**
 * Returns the instant at which the local clock shows `seconds` seconds more than at `instantMs`. Both instants are in
 * milliseconds since the epoch.
 */
export function shiftLocally(instantMs: number, seconds: number): number {
  const shifted = localSecondsAt(instantMs) + seconds;
  const day = Math.floor(shifted / secondsPerDay);
  return instantMsOf(addCalendarDays(firstLocalDate, day), shifted - day * secondsPerDay);
}

/**
 * Returns the local date and time of an instant as the seconds since the start of {@link firstLocalDate} (0001-01-01).
 * Every day counts 86,400 s. On a day with a clock change, the result is the seconds since the day began.
 */
function localSecondsAt(instantMs: number): number {
  const date = localDateAt(instantMs);
  return dayNumberOf(date) * secondsPerDay + (instantMs - instantMsOf(date, 0)) / 1_000;
}

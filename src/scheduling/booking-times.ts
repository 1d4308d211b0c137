import { HORIZON_DAYS, horizonFrom } from "./horizon.js";
import { endOfLocalDay, localDateAt } from "./local-clock.js";

const minuteMs = 60_000;

/**
 * Clinic staff can book a slot until this many minutes after its start, for patients who come without an appointment.
 */
const WALK_IN_GRACE_MINUTES = 15;

/** Rounds an instant down to the whole minute. Takes and returns milliseconds since the epoch. */
export function minuteOf(instantMs: number): number {
  return Math.floor(instantMs / minuteMs) * minuteMs;
}

/**
 * Returns the earliest start that clinic staff can still book, in milliseconds since the epoch: 15 minutes before the
 * current minute.
 */
export function earliestStart(nowMs: number): number {
  return minuteOf(nowMs) - WALK_IN_GRACE_MINUTES * minuteMs;
}

/**
 * Returns the end of the last local day on which an appointment can start, in milliseconds since the epoch. This is the
 * day `horizonDays` days after today.
 */
export function endOfBookableStarts(nowMs: number, horizonDays = HORIZON_DAYS): number {
  return Date.parse(endOfLocalDay(horizonFrom(nowMs, horizonDays).through));
}

/**
 * Whether an appointment may begin at an instant: on a whole minute, from {@link earliestStart} on, and before {@link
 * endOfBookableStarts}.
 */
export function isBookableStart(startMs: number, nowMs: number, horizonDays = HORIZON_DAYS): boolean {
  const endMs = endOfBookableStarts(nowMs, horizonDays);
  return minuteOf(startMs) === startMs && startMs >= earliestStart(nowMs) && startMs < endMs;
}

/**
 * Whether a period of this many minutes ends on the local day on which it starts. An end at midnight belongs to that
 * day.
 */
export function isWithinOneDay(startMs: number, minutes: number): boolean {
  return startMs + minutes * minuteMs <= Date.parse(endOfLocalDay(localDateAt(startMs)));
}

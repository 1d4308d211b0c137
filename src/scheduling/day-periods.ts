import type { LocalWindow } from "./local-time.js";

/** A part of the local day that a waitlist entry may prefer. */
export type DayPeriod = "MORNING" | "AFTERNOON" | "EVENING" | "NIGHT";

/**
 * The windows of the periods: 06 to 12, 12 to 18, 18 to 22, and 22 to 06. Together they are the whole day, each time in
 * one of them. A night has two windows of one date, its early hours and its late ones; it does not reach into the next.
 */
export const dayPeriods: Readonly<Record<DayPeriod, readonly LocalWindow[]>> = {
  MORNING: [hours(6, 12)],
  AFTERNOON: [hours(12, 18)],
  EVENING: [hours(18, 22)],
  NIGHT: [hours(0, 6), hours(22, 24)],
};

function hours(start: number, end: number): LocalWindow {
  return { startSecond: start * 3600, endSecond: end * 3600 };
}

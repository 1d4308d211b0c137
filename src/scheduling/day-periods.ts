import type { LocalWindow } from "./local-time.js";

/** A part of the local day that a waitlist entry may prefer. */
export type DayPeriod = "MORNING" | "AFTERNOON" | "EVENING" | "NIGHT";

/**
 * The local windows of each period. Together they cover the day without overlap. NIGHT has two windows of the same
 * date, and does not reach into the next date.
 */
export const dayPeriods: Readonly<Record<DayPeriod, readonly LocalWindow[]>> = {
  MORNING: [hours(6, 12)],
  AFTERNOON: [hours(12, 18)],
  EVENING: [hours(18, 22)],
  NIGHT: [hours(0, 6), hours(22, 24)],
};

/** Returns the period in which a second of a local day lies. */
export function periodOf(secondOfDay: number): DayPeriod {
  const isIn = ({ startSecond, endSecond }: LocalWindow) => startSecond <= secondOfDay && secondOfDay < endSecond;
  return (["MORNING", "AFTERNOON", "EVENING"] as const).find((period) => dayPeriods[period].some(isIn)) ?? "NIGHT";
}

function hours(start: number, end: number): LocalWindow {
  return { startSecond: start * 3600, endSecond: end * 3600 };
}

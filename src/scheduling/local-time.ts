/** A part of one local day, in seconds since midnight. `startSecond` is inclusive, `endSecond` is exclusive. */
export interface LocalWindow {
  readonly startSecond: number;
  readonly endSecond: number;
}

/** The second that stands for the end of a local day, 24:00. */
export const secondsPerDay = 86_400;

const lastMinuteStart = secondsPerDay - 60;
const localTime = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

/**
 * Parses HH:MM or HH:MM:SS to the second of the day, 0 to 86,399. Returns undefined for any other text, including
 * 24:00.
 */
export function parseLocalTime(text: string): number | undefined {
  const [match, hours, minutes, seconds = "0"] = localTime.exec(text) ?? [];
  return match === undefined ? undefined : (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** Formats a second of the day as HH:MM:SS. Throws RangeError unless it is a whole number from 0 to 86,399. */
export function formatLocalTime(secondOfDay: number): string {
  if (!Number.isInteger(secondOfDay) || secondOfDay < 0 || secondOfDay >= secondsPerDay) {
    throw new RangeError("not a second of a day");
  }
  const parts = [Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60, secondOfDay % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/**
 * Returns the window between two local times. An end of 23:59 or later means the end of the day, because a local time
 * cannot be 24:00. The caller has checked that the start is before the end. Throws RangeError for text that is not a
 * local time.
 */
export function localWindow(startsAtLocal: string, endsAtLocal: string): LocalWindow {
  const [startSecond, endSecond] = [parseLocalTime(startsAtLocal), parseLocalTime(endsAtLocal)];
  if (startSecond === undefined || endSecond === undefined) throw new RangeError("not a local time");
  return { startSecond, endSecond: endSecond >= lastMinuteStart ? secondsPerDay : endSecond };
}

/** Counts the consecutive slots that fit in the window. A remainder shorter than a slot is not used. */
export function countSlots(window: LocalWindow, slotDurationMinutes: number): number {
  return Math.max(0, Math.floor((window.endSecond - window.startSecond) / (slotDurationMinutes * 60)));
}

/** A stretch of one local day in seconds since its midnight: from `startSecond` up to, but without, `endSecond`. */
export interface LocalWindow {
  readonly startSecond: number;
  readonly endSecond: number;
}

/** Of the wall clock: the second of the day that stands for the end of the day, 24:00. */
export const secondsPerDay = 86_400;

const lastMinuteStart = secondsPerDay - 60;
const localTime = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

/** The second of the day, 0 to 86,399, that HH:MM or HH:MM:SS stands for; undefined for any other text, 24:00 included. */
export function parseLocalTime(text: string): number | undefined {
  const [match, hours, minutes, seconds = "0"] = localTime.exec(text) ?? [];
  return match === undefined ? undefined : (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** HH:MM:SS of a second of the day. Throws RangeError for a number that is none. */
export function formatLocalTime(secondOfDay: number): string {
  if (!Number.isInteger(secondOfDay) || secondOfDay < 0 || secondOfDay >= secondsPerDay) {
    throw new RangeError("not a second of a day");
  }
  const parts = [Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60, secondOfDay % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/**
 * The window between two local times. No local time says 24:00, so an end in the last minute of the day (23:59, 23:59:59)
 * means the end of the day; all of that minute does, or a later end could make a shorter window. The start must be before
 * the end as written. Throws RangeError for text that is no local time.
 */
export function localWindow(startsAtLocal: string, endsAtLocal: string): LocalWindow {
  const [startSecond, endSecond] = [parseLocalTime(startsAtLocal), parseLocalTime(endsAtLocal)];
  if (startSecond === undefined || endSecond === undefined) throw new RangeError("not a local time");
  return { startSecond, endSecond: endSecond >= lastMinuteStart ? secondsPerDay : endSecond };
}

/** How many slots follow each other in the window; what is left at its end is unused. */
export function countSlots(window: LocalWindow, slotDurationMinutes: number): number {
  return Math.max(0, Math.floor((window.endSecond - window.startSecond) / (slotDurationMinutes * 60)));
}

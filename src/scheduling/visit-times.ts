import { localDateAt, startOfLocalDay } from "./local-clock.js";

/** The earliest times of a check-in, an attendance and a no-show, in minutes before or after the visit's start. */
export interface VisitMargins {
  /**
   * A patient can be checked in from this many minutes before the start, but never before the local day of the
   * appointment.
   */
  readonly checkInEarlyMinutes: number;
  /** An appointment can be marked as attended from this many minutes before its start. */
  readonly attendedEarlyMinutes: number;
  /** An appointment can be marked as a no-show from this many minutes after its start. */
  readonly noShowGraceMinutes: number;
}

/** Returns the margins of a tenant. A margin that the tenant has not set comes from `defaults`. */
export function marginsOf(
  set: { readonly [K in keyof VisitMargins]: number | undefined },
  defaults: VisitMargins,
): VisitMargins {
  return {
    checkInEarlyMinutes: set.checkInEarlyMinutes ?? defaults.checkInEarlyMinutes,
    attendedEarlyMinutes: set.attendedEarlyMinutes ?? defaults.attendedEarlyMinutes,
    noShowGraceMinutes: set.noShowGraceMinutes ?? defaults.noShowGraceMinutes,
  };
}

/** A step that an appointment cannot take before a certain time, see {@link earliestStepMs}. */
export type VisitStep = "CHECKED_IN" | "ATTENDED" | "NO_SHOW";

const MS_PER_MINUTE = 60_000;

/**
 * Returns the first instant at which an appointment can take a step, in milliseconds since the epoch. A check-in is
 * never before the appointment's local day. There is no last instant, because steps may be recorded later.
 */
export function earliestStepMs(step: VisitStep, startsAtMs: number, margins: VisitMargins): number {
  const { checkInEarlyMinutes, attendedEarlyMinutes, noShowGraceMinutes } = margins;
  if (step === "NO_SHOW") return startsAtMs + noShowGraceMinutes * MS_PER_MINUTE;
  if (step === "ATTENDED") return startsAtMs - attendedEarlyMinutes * MS_PER_MINUTE;
  const startOfDayMs = Date.parse(startOfLocalDay(localDateAt(startsAtMs)));
  return Math.max(startsAtMs - checkInEarlyMinutes * MS_PER_MINUTE, startOfDayMs);
}

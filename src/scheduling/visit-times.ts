import { localDateAt, startOfLocalDay } from "./local-clock.js";

/** How far from the start of an appointment its steps are taken, in minutes. */
export interface VisitMargins {
  /** How long before the start a patient can be checked in at the earliest. */
  readonly checkInEarlyMinutes: number;
  /** How long before the start a patient can have been seen at the earliest. */
  readonly attendedEarlyMinutes: number;
  /** How long after the start a patient who is not there has not come. */
  readonly noShowGraceMinutes: number;
}

/** A step of an appointment that the clock has a say in. */
export type VisitStep = "CHECKED_IN" | "ATTENDED" | "NO_SHOW";

const MS_PER_MINUTE = 60_000;

/**
 * The first instant, in milliseconds since the epoch, at which an appointment that begins at another can take a step: nobody
 * arrives before the local day of the appointment, and nobody stays away before it has begun. There is no last one, because
 * what happened may be entered later.
 */
export function earliestStepMs(step: VisitStep, startsAtMs: number, margins: VisitMargins): number {
  const { checkInEarlyMinutes, attendedEarlyMinutes, noShowGraceMinutes } = margins;
  if (step === "NO_SHOW") return startsAtMs + noShowGraceMinutes * MS_PER_MINUTE;
  if (step === "ATTENDED") return startsAtMs - attendedEarlyMinutes * MS_PER_MINUTE;
  const startOfDayMs = Date.parse(startOfLocalDay(localDateAt(startsAtMs)));
  return Math.max(startsAtMs - checkInEarlyMinutes * MS_PER_MINUTE, startOfDayMs);
}

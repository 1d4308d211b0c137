import { horizonFrom } from "./horizon.js";
import { endOfLocalDay, localDateAt } from "./local-clock.js";

const minuteMs = 60_000;

/** How long after its beginning a slot can still be booked for a patient who has come without an appointment. */
export const WALK_IN_GRACE_MINUTES = 15;

/** The minute that an instant lies in, all in milliseconds since the epoch. */
export function minuteOf(instantMs: number): number {
  return Math.floor(instantMs / minuteMs) * minuteMs;
}

/** The first start that can be booked by its time: what began earlier has begun too long ago. */
export function earliestStart(nowMs: number): number {
  return minuteOf(nowMs) - WALK_IN_GRACE_MINUTES * minuteMs;
}

/** Whether an appointment may begin then: on a whole minute, not too long ago, and no further than schedules are made. */
export function isBookableStart(startMs: number, nowMs: number): boolean {
  const endOfSchedule = Date.parse(endOfLocalDay(horizonFrom(nowMs).through));
  return minuteOf(startMs) === startMs && startMs >= earliestStart(nowMs) && startMs < endOfSchedule;
}

/** Whether a time ends on the local day that it begins on; midnight ends it. */
export function isWithinOneDay(startMs: number, minutes: number): boolean {
  return startMs + minutes * minuteMs <= Date.parse(endOfLocalDay(localDateAt(startMs)));
}

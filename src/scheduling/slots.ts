import { formatInstant, instantMsOf } from "./local-clock.js";
import { localWindow } from "./local-time.js";
import type { ProgramRuleTerms } from "./program-rule-terms.js";
import { isOpenOn } from "./recurrence.js";

/** One bookable stretch of time: UTC text with `Z`, the end not part of it. */
export interface SlotTimes {
  readonly startsAt: string;
  readonly endsAt: string;
}

const msPerMinute = 60_000;

/** The slots of a rule on a local date: {@link slotsOnOpenDate}, and none where the rule does not open the date. */
export function slotsOn(rule: ProgramRuleTerms, date: string, tenantHolidays: ReadonlySet<string>): SlotTimes[] {
  return isOpenOn(rule, date, tenantHolidays) ? slotsOnOpenDate(rule, date) : [];
}

/** The slots of a rule on one date, as they are regular: `count` of them, each of the rule's duration. */
export interface SlotRun {
  /** When the first begins: UTC text with `Z`. */
  readonly startsAt: string;
  readonly count: number;
}

/** The slots that fill the rule's window on a date that the caller knows to be open: {@link slotRunOn}, one by one. */
export function slotsOnOpenDate(rule: ProgramRuleTerms, date: string): SlotTimes[] {
  const { startsAt, count } = slotRunOn(rule, date);
  const startMs = Date.parse(startsAt);
  const durationMs = rule.slotDurationMinutes * msPerMinute;
  return Array.from({ length: count }, (_, i) => ({
    startsAt: formatInstant(startMs + i * durationMs),
    endsAt: formatInstant(startMs + (i + 1) * durationMs),
  }));
}

/**
 * The slots that fill the rule's window on a date that the caller knows to be open, in order and without gaps; a rest that
 * is shorter than a slot stays unused. Slots are cut in elapsed time, so that each lasts its full duration and none overlaps
 * another even on a day on which the clock changes: the window then holds as many as really fit.
 */
export function slotRunOn(rule: ProgramRuleTerms, date: string): SlotRun {
  const { startSecond, endSecond } = localWindow(rule.startsAtLocal, rule.endsAtLocal);
  const startMs = instantMsOf(date, startSecond);
  const durationMs = rule.slotDurationMinutes * msPerMinute;
  const count = Math.max(0, Math.floor((instantMsOf(date, endSecond) - startMs) / durationMs));
  return { startsAt: formatInstant(startMs), count };
}

import { formatInstant, instantMsOf } from "./local-clock.js";
import { localWindow } from "./local-time.js";
import type { ProgramRuleTerms } from "./program-rule-terms.js";

/** The slots of a rule on one date, as they are regular: `count` of them, each of the rule's duration. */
export interface SlotRun {
  /** When the first begins: UTC text with `Z`. */
  readonly startsAt: string;
  readonly count: number;
}

const msPerMinute = 60_000;

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

import { formatInstant, instantMsOf } from "./local-clock.js";
import { localWindow } from "./local-time.js";
import type { ProgramRuleAttributes } from "./program-rule-attributes.js";

/** The slots of a rule on one date: `count` consecutive slots, each of the rule's duration. */
export interface SlotRun {
  /** Start of the first slot, as UTC text with `Z`. */
  readonly startsAt: string;
  readonly count: number;
}

const msPerMinute = 60_000;

/**
 * Returns the slots that fill the rule's window on a date, in order and without gaps. The caller has checked that the
 * date is open. A remainder shorter than a slot is not used. Each slot has its full duration in elapsed time, even on a
 * day with a clock change.
 */
export function slotRunOn(rule: ProgramRuleAttributes, date: string): SlotRun {
  const { startSecond, endSecond } = localWindow(rule.startsAtLocal, rule.endsAtLocal);
  const startMs = instantMsOf(date, startSecond);
  const durationMs = rule.slotDurationMinutes * msPerMinute;
  const count = Math.max(0, Math.floor((instantMsOf(date, endSecond) - startMs) / durationMs));
  return { startsAt: formatInstant(startMs), count };
}

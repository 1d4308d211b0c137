import { HORIZON_DAYS } from "./horizon.js";
import { countDaysOn, dayNumberOf } from "./local-date.js";
import { countSlots, localWindow } from "./local-time.js";
import type { ProgramRuleTerms } from "./program-rule-terms.js";

/** A rule in numbers: its days by {@link dayNumberOf}, and the slots that a practitioner has on each. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly weekdays: readonly number[];
  readonly slotsADay: number;
}

/**
 * How many slots these rules give one practitioner within the dates that a schedule is made for, at most: of the spans of
 * that length that begin today or, behind it, with a rule, the one that has most. Holidays are left out, so that taking one
 * away never makes a plan larger than it was judged to be. Grows with the square of the number of rules, in small steps.
 */
export function largestPlan(rules: readonly ProgramRuleTerms[], today: string): number {
  const first = dayNumberOf(today);
  const stretches = rules.filter(({ active }) => active).map(toStretch);
  const starts = new Set([first, ...stretches.map(({ from }) => from).filter((from) => from > first)]);
  return Math.max(...Array.from(starts, (start) => slotsWithin(stretches, start, start + HORIZON_DAYS)));
}

function toStretch(rule: ProgramRuleTerms): Stretch {
  const slotsADay = countSlots(localWindow(rule.startsAtLocal, rule.endsAtLocal), rule.slotDurationMinutes);
  return { from: dayNumberOf(rule.validFrom), to: dayNumberOf(rule.validTo), weekdays: rule.weekdays, slotsADay };
}

function slotsWithin(stretches: readonly Stretch[], first: number, last: number): number {
  let slots = 0;
  for (const { from, to, weekdays, slotsADay } of stretches) {
    if (from > last || to < first) continue;
    slots += slotsADay * countDaysOn(weekdays, Math.max(from, first), Math.min(to, last));
  }
  return slots;
}

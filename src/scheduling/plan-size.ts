import { HORIZON_DAYS } from "./horizon.js";
import { countDaysOn, dayNumberOf } from "./local-date.js";
import { countSlots, localWindow } from "./local-time.js";
import type { ProgramRuleAttributes } from "./program-rule-attributes.js";

/**
 * The numbers of a rule that {@link largestPlan} uses. `from` and `to` are the rule's first and last day, as
 * {@link dayNumberOf} returns them. `slotsADay` is the number of slots for one practitioner on each open day.
 */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly weekdays: readonly number[];
  readonly slotsADay: number;
}

/**
 * Estimates the largest number of slots that the active rules make for one practitioner in `days` + 1 consecutive
 * dates, today or later. Slots on holidays count too, so removing a holiday does not change the result.
 *
 * Examines only ranges that begin today, begin on the first day of a rule, or end on the last day of a rule. Another
 * range can have more slots, because a rule opens only on certain weekdays. The difference is at most the slots of six
 * dates.
 */
export function largestPlan(rules: readonly ProgramRuleAttributes[], today: string, days = HORIZON_DAYS): number {
  const first = dayNumberOf(today);
  const stretches = rules.filter(({ active }) => active).map(toStretch);
  const later = stretches.flatMap(({ from, to }) => [from, to - days]).filter((start) => start > first);
  const starts = new Set([first, ...later]);
  return Math.max(...Array.from(starts, (start) => slotsWithin(stretches, start, start + days)));
}

function toStretch(rule: ProgramRuleAttributes): Stretch {
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

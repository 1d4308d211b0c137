import { datesClosedByRule } from "./holidays.js";
import { countDatesOn, earlierDate, laterDate, weekdayOf } from "./local-date.js";
import { localWindow } from "./local-time.js";
import type { ProgramRuleAttributes } from "./program-rule-attributes.js";

/**
 * Whether two rules of a program overlap: both are active, their local times overlap, and at least one date is open in
 * both rules. If one rule ends when the other starts, their times do not overlap.
 *
 * A date in the `holidayDates` of a SKIP rule is closed. The tenant's holidays are ignored, so that a change of these
 * holidays never makes two valid rules overlap.
 */
export function overlaps(a: ProgramRuleAttributes, b: ProgramRuleAttributes): boolean {
  return a.active && b.active && shareTime(a, b) && shareDate(a, b);
}

function shareTime(a: ProgramRuleAttributes, b: ProgramRuleAttributes): boolean {
  const windowA = localWindow(a.startsAtLocal, a.endsAtLocal);
  const windowB = localWindow(b.startsAtLocal, b.endsAtLocal);
  return Math.max(windowA.startSecond, windowB.startSecond) < Math.min(windowA.endSecond, windowB.endSecond);
}

function shareDate(a: ProgramRuleAttributes, b: ProgramRuleAttributes): boolean {
  const from = laterDate(a.validFrom, b.validFrom);
  const to = earlierDate(a.validTo, b.validTo);
  const weekdays = new Set(a.weekdays.filter((weekday) => b.weekdays.includes(weekday)));
  const isCandidate = (date: string) => from <= date && date <= to && weekdays.has(weekdayOf(date));
  const closed = new Set([...datesClosedByRule(a), ...datesClosedByRule(b)].filter(isCandidate));
  return countDatesOn(weekdays, from, to) > closed.size;
}

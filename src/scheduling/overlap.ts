import { datesClosedByRule } from "./holidays.js";
import { countDatesOn, weekdayOf } from "./local-date.js";
import { localWindow } from "./local-time.js";
import type { ProgramRuleTerms } from "./program-rule-terms.js";

/**
 * Whether two rules of a program contend: both active, and there is a date that both open and a time of day that both
 * windows hold. Windows that touch do not overlap. A date that a SKIP rule lists itself is closed; the tenant's calendar is
 * left out, so that adding a holiday or removing one never makes a valid rule invalid. The cost grows with the listed
 * dates, not with the length of the validities, which may reach 9999-12-31.
 */
export function overlaps(a: ProgramRuleTerms, b: ProgramRuleTerms): boolean {
  return a.active && b.active && shareTime(a, b) && shareDate(a, b);
}

function shareTime(a: ProgramRuleTerms, b: ProgramRuleTerms): boolean {
  const windowA = localWindow(a.startsAtLocal, a.endsAtLocal);
  const windowB = localWindow(b.startsAtLocal, b.endsAtLocal);
  return Math.max(windowA.startSecond, windowB.startSecond) < Math.min(windowA.endSecond, windowB.endSecond);
}

function shareDate(a: ProgramRuleTerms, b: ProgramRuleTerms): boolean {
  const from = a.validFrom > b.validFrom ? a.validFrom : b.validFrom;
  const to = a.validTo < b.validTo ? a.validTo : b.validTo;
  const weekdays = new Set(a.weekdays.filter((weekday) => b.weekdays.includes(weekday)));
  const isCandidate = (date: string) => from <= date && date <= to && weekdays.has(weekdayOf(date));
  const closed = new Set([...datesClosedByRule(a), ...datesClosedByRule(b)].filter(isCandidate));
  return countDatesOn(weekdays, from, to) > closed.size;
}

import * as PlainDate from "temporal-polyfill/fns/PlainDate";
import { isClosedForHoliday } from "./holidays.js";
import { parseLocalDate, weekdayOf } from "./local-date.js";
import type { ProgramRuleTerms } from "./program-rule-terms.js";

/**
 * Whether the rule opens its program on a local date: the rule is active and valid then, the weekday is one of its own,
 * and its holiday policy does not close the date. `tenantHolidays` are the dates of the tenant's active holidays. Throws
 * RangeError for text that is no date.
 */
export function isOpenOn(rule: ProgramRuleTerms, date: string, tenantHolidays: ReadonlySet<string>): boolean {
  const weekday = weekdayOf(date);
  if (!rule.active || date < rule.validFrom || date > rule.validTo) return false;
  return rule.weekdays.includes(weekday) && !isClosedForHoliday(rule, date, tenantHolidays);
}

/**
 * The dates on which the rule is open, in order, from one date to another, both included. Lazy, and walks no date outside
 * the asked range or the rule's validity: the caller bounds the work by asking for no more than a horizon.
 */
export function* openDates(
  rule: ProgramRuleTerms,
  from: string,
  to: string,
  tenantHolidays: ReadonlySet<string>,
): Generator<string, void, undefined> {
  const first = from > rule.validFrom ? from : rule.validFrom;
  const last = to < rule.validTo ? to : rule.validTo;
  if (!rule.active || first > last) return;
  const start = parseLocalDate(first);
  const days = PlainDate.diffDays(start, parseLocalDate(last));
  for (let i = 0; i <= days; i++) {
    const date = PlainDate.toString(PlainDate.addDays(start, i));
    if (isOpenOn(rule, date, tenantHolidays)) yield date;
  }
}

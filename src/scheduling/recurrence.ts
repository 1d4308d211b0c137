import * as PlainDate from "temporal-polyfill/fns/PlainDate";
import { isClosedForHoliday } from "./holidays.js";
import { earlierDate, laterDate, parseLocalDate, weekdayOf } from "./local-date.js";
import type { ProgramRuleAttributes } from "./program-rule-attributes.js";

/**
 * Whether the rule opens its program on a local date. Returns false if:
 * - the rule is not active
 * - the date is not within the rule's validity or not on one of its weekdays
 * - the rule's holiday policy closes the date
 *
 * `tenantHolidays` are the dates of the tenant's active holidays. Throws RangeError for text that is not a date.
 */
export function isOpenOn(rule: ProgramRuleAttributes, date: string, tenantHolidays: ReadonlySet<string>): boolean {
  const weekday = weekdayOf(date);
  if (!rule.active || date < rule.validFrom || date > rule.validTo) return false;
  return rule.weekdays.includes(weekday) && !isClosedForHoliday(rule, date, tenantHolidays);
}

/**
 * Yields the open dates of the rule in order, from one date to another, both included. Visits only dates within the
 * rule's validity. `tenantHolidays` are the dates of the tenant's active holidays.
 */
export function* openDates(
  rule: ProgramRuleAttributes,
  from: string,
  to: string,
  tenantHolidays: ReadonlySet<string>,
): Generator<string, void, undefined> {
  const first = laterDate(from, rule.validFrom);
  const last = earlierDate(to, rule.validTo);
  if (!rule.active || first > last) return;
  const start = parseLocalDate(first);
  const days = PlainDate.diffDays(start, parseLocalDate(last));
  for (let i = 0; i <= days; i++) {
    const date = PlainDate.toString(PlainDate.addDays(start, i));
    if (isOpenOn(rule, date, tenantHolidays)) yield date;
  }
}

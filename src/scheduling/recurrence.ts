import * as PlainDate from "temporal-polyfill/fns/PlainDate";
import { isClosedForHoliday } from "./holidays.js";
import { earlierDate, laterDate, parseLocalDate, weekdayOf } from "./local-date.js";
import type { ProgramRuleAttributes } from "./program-rule-attributes.js";

/**
 * Whether the rule opens its program on a local date. The rule must be active. The date must be within its validity and
 * on one of its weekdays. Its holiday policy must not close the date. `tenantHolidays` are the dates of the tenant's
 * active holidays. Throws RangeError for text that is not a date.
 */
export function isOpenOn(rule: ProgramRuleAttributes, date: string, tenantHolidays: ReadonlySet<string>): boolean {
  const weekday = weekdayOf(date);
  if (!rule.active || date < rule.validFrom || date > rule.validTo) return false;
  return rule.weekdays.includes(weekday) && !isClosedForHoliday(rule, date, tenantHolidays);
}

/**
 * Yields the open dates of the rule in order, from one date to another, both included. The generator is lazy and visits
 * only dates within the range and the rule's validity. So the length of the range limits the work.
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

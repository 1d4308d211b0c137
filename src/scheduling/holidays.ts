import type { HolidayPolicy, ProgramRuleAttributes } from "./program-rule-attributes.js";

type HolidayAttributes = Pick<ProgramRuleAttributes, "holidayDates" | "holidayPolicy">;

/**
 * Decides for each policy whether a date is closed. `isHoliday`: the date is a holiday of the tenant. `isListed`: the
 * `holidayDates` of the rule contain the date.
 */
const closes: Readonly<Record<HolidayPolicy, (isHoliday: boolean, isListed: boolean) => boolean>> = {
  SKIP: (isHoliday, isListed) => isHoliday || isListed,
  INCLUDE: () => false,
  ONLY_EXCEPTIONS: (isHoliday, isListed) => isHoliday && !isListed,
};

/**
 * Whether the rule's holiday policy closes a local date. Weekdays and validity are not checked here. `tenantHolidays`
 * are the dates of the tenant's active holidays.
 */
export function isClosedForHoliday(
  rule: HolidayAttributes,
  date: string,
  tenantHolidays: ReadonlySet<string>,
): boolean {
  return closes[rule.holidayPolicy](tenantHolidays.has(date), rule.holidayDates.includes(date));
}

/**
 * Returns the dates that the `holidayDates` of a rule close, whatever the tenant's holidays are. Only a SKIP rule has
 * such dates.
 */
export function datesClosedByRule(rule: HolidayAttributes): readonly string[] {
  return rule.holidayPolicy === "SKIP" ? rule.holidayDates : [];
}

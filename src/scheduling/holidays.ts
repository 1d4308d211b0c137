import type { HolidayPolicy, ProgramRuleTerms } from "./program-rule-terms.js";

type HolidayTerms = Pick<ProgramRuleTerms, "holidayDates" | "holidayPolicy">;

/** Whether each policy closes a date, by whether it is a holiday of the tenant and whether the rule lists it. */
const closes: Readonly<Record<HolidayPolicy, (isHoliday: boolean, isListed: boolean) => boolean>> = {
  SKIP: (isHoliday, isListed) => isHoliday || isListed,
  INCLUDE: () => false,
  ONLY_EXCEPTIONS: (isHoliday, isListed) => isHoliday && !isListed,
};

/**
 * Whether the rule's policy closes a local date that its weekdays and validity would open. `tenantHolidays` are the
 * dates of the tenant's active holidays.
 */
export function isClosedForHoliday(rule: HolidayTerms, date: string, tenantHolidays: ReadonlySet<string>): boolean {
  return closes[rule.holidayPolicy](tenantHolidays.has(date), rule.holidayDates.includes(date));
}

/** The dates that the rule closes whatever the tenant's calendar says. */
export function datesClosedByRule(rule: HolidayTerms): readonly string[] {
  return rule.holidayPolicy === "SKIP" ? rule.holidayDates : [];
}

/**
 * What a rule does on holidays; weekday and validity apply in any case. `SKIP`: closed on the tenant's holidays and on the
 * rule's own `holidayDates`. `INCLUDE`: open on all. `ONLY_EXCEPTIONS`: closed on the tenant's holidays but for those
 * listed in `holidayDates`.
 */
export type HolidayPolicy = "SKIP" | "INCLUDE" | "ONLY_EXCEPTIONS";

/**
 * The terms of a program rule (specification section 2.7): when a program is open and how its time is cut into slots.
 * Everything in this folder but `ruleProblems` expects terms in which that function finds no problem.
 */
export interface ProgramRuleTerms {
  /** A rule that is not active opens nothing and overlaps nothing. */
  readonly active: boolean;
  /** Appointments that one date takes at most, 1 to 10,000. */
  readonly dailyCapacity: number;
  /** 1 to 1440. */
  readonly slotDurationMinutes: number;
  /** Local time, HH:MM or HH:MM:SS. */
  readonly startsAtLocal: string;
  /** Local time, HH:MM or HH:MM:SS, not part of the window; from 23:59 on, the end of the day. */
  readonly endsAtLocal: string;
  readonly recurrence: "WEEKLY";
  /** ISO 8601: 1 is Monday, 7 is Sunday. */
  readonly weekdays: readonly number[];
  /** Local date, YYYY-MM-DD; the first on which the rule applies. */
  readonly validFrom: string;
  /** Local date, YYYY-MM-DD; the last on which the rule applies, up to 9999-12-31. */
  readonly validTo: string;
  /** Local dates, YYYY-MM-DD, read as `holidayPolicy` says. */
  readonly holidayDates: readonly string[];
  readonly holidayPolicy: HolidayPolicy;
}

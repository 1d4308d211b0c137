/**
 * How a rule treats holidays; its weekdays and validity always apply:
 * - `SKIP`: closed on the tenant's holidays and on the rule's own `holidayDates`
 * - `INCLUDE`: open on all holidays
 * - `ONLY_EXCEPTIONS`: closed on the tenant's holidays, except those in `holidayDates`
 */
export type HolidayPolicy = "SKIP" | "INCLUDE" | "ONLY_EXCEPTIONS";

/**
 * The attributes of a program rule (specification section 2.7): when a program is open and how its time is divided into
 * slots. `ruleProblems` accepts any values. All other functions of this folder require a rule without problems.
 */
export interface ProgramRuleAttributes {
  /** An inactive rule opens no date and overlaps no rule. */
  readonly active: boolean;
  /**
   * The maximum number of bookings in the slots of this rule on one date, 1 to 10,000. A hold counts as a booking until
   * it ends or expires.
   */
  readonly dailyCapacity: number;
  /** The duration of each slot in minutes, 1 to 1440. */
  readonly slotDurationMinutes: number;
  /** The local time at which the first slot of a date starts, HH:MM or HH:MM:SS. */
  readonly startsAtLocal: string;
  /**
   * The local time by which the last slot of a date ends, HH:MM or HH:MM:SS. 23:59 and later mean the end of the day.
   */
  readonly endsAtLocal: string;
  readonly recurrence: "WEEKLY";
  /** The weekdays on which the rule opens its program, as in ISO 8601: 1 is Monday, 7 is Sunday. */
  readonly weekdays: readonly number[];
  /** The first local date on which the rule applies, YYYY-MM-DD. */
  readonly validFrom: string;
  /** The last local date on which the rule applies, YYYY-MM-DD, 9999-12-31 at the latest. */
  readonly validTo: string;
  /** Local dates, YYYY-MM-DD; `holidayPolicy` defines their effect. */
  readonly holidayDates: readonly string[];
  readonly holidayPolicy: HolidayPolicy;
}

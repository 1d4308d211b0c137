import { isLocalDate } from "./local-date.js";
import { countSlots, type LocalWindow, localWindow, parseLocalTime } from "./local-time.js";
import type { ProgramRuleAttributes } from "./program-rule-attributes.js";

/** One reason why a rule cannot be used. `field` is a JSON path. `message` never contains a submitted value. */
export interface RuleProblem {
  readonly code: "INVALID_DATE" | "INVALID_TIME" | "INVALID_RANGE" | "INVALID_CAPACITY" | "OUT_OF_RANGE";
  readonly field: string;
  readonly message: string;
}

const longestSlotMinutes = 1440;
const highestDailyCapacity = 10_000;
const sunday = 7;

/**
 * Returns the problems of a rule, in the order of its fields; none for a valid rule (specification section 4.7, rule
 * 1). For an update, pass the complete rule after the change. If a field is invalid by itself, it is not compared with
 * other fields. Overlaps with other rules are checked by `overlaps`.
 */
export function ruleProblems(rule: ProgramRuleAttributes): RuleProblem[] {
  return [
    ...capacityProblems(rule),
    ...durationProblems(rule),
    ...timeProblems(rule),
    ...weekdayProblems(rule),
    ...validityProblems(rule),
    ...rule.holidayDates.flatMap((date, i) => dateProblems(`holidayDates[${i}]`, date)),
  ];
}

function capacityProblems({ dailyCapacity }: ProgramRuleAttributes): RuleProblem[] {
  if (isWholeWithin(dailyCapacity, highestDailyCapacity)) return [];
  const message = `the value must be from 1 to ${highestDailyCapacity}`;
  return [{ code: "INVALID_CAPACITY", field: "dailyCapacity", message }];
}

function durationProblems({ slotDurationMinutes }: ProgramRuleAttributes): RuleProblem[] {
  if (isWholeWithin(slotDurationMinutes, longestSlotMinutes)) return [];
  const message = `the value must be from 1 to ${longestSlotMinutes}`;
  return [{ code: "OUT_OF_RANGE", field: "slotDurationMinutes", message }];
}

function timeProblems({ startsAtLocal, endsAtLocal, slotDurationMinutes }: ProgramRuleAttributes): RuleProblem[] {
  const [start, end] = [parseLocalTime(startsAtLocal), parseLocalTime(endsAtLocal)];
  const message = "the value must be a local time, HH:MM or HH:MM:SS";
  const problems: RuleProblem[] = [];
  if (start === undefined) problems.push({ code: "INVALID_TIME", field: "startsAtLocal", message });
  if (end === undefined) problems.push({ code: "INVALID_TIME", field: "endsAtLocal", message });
  if (start === undefined || end === undefined) return problems;
  if (start >= end) {
    return [{ code: "INVALID_RANGE", field: "endsAtLocal", message: "endsAtLocal must be after startsAtLocal" }];
  }
  return fitProblems(localWindow(startsAtLocal, endsAtLocal), slotDurationMinutes);
}

function fitProblems(window: LocalWindow, slotDurationMinutes: number): RuleProblem[] {
  if (!isWholeWithin(slotDurationMinutes, longestSlotMinutes)) return [];
  if (countSlots(window, slotDurationMinutes) >= 1) return [];
  const message = "at least one slot must fit between startsAtLocal and endsAtLocal";
  return [{ code: "INVALID_CAPACITY", field: "slotDurationMinutes", message }];
}

function weekdayProblems({ weekdays }: ProgramRuleAttributes): RuleProblem[] {
  return weekdays.flatMap((weekday, i) => {
    if (isWholeWithin(weekday, sunday)) return [];
    return [{ code: "OUT_OF_RANGE", field: `weekdays[${i}]`, message: `the value must be from 1 to ${sunday}` }];
  });
}

function validityProblems({ validFrom, validTo }: ProgramRuleAttributes): RuleProblem[] {
  const problems = [...dateProblems("validFrom", validFrom), ...dateProblems("validTo", validTo)];
  if (problems.length > 0 || validFrom <= validTo) return problems;
  return [{ code: "INVALID_RANGE", field: "validTo", message: "validTo must not be before validFrom" }];
}

function dateProblems(field: string, date: string): RuleProblem[] {
  if (isLocalDate(date)) return [];
  return [{ code: "INVALID_DATE", field, message: "the value must be a valid ISO 8601 date" }];
}

function isWholeWithin(value: number, highest: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= highest;
}

import { isLocalDate } from "./local-date.js";
import { countSlots, type LocalWindow, localWindow, parseLocalTime } from "./local-time.js";
import type { ProgramRuleTerms } from "./program-rule-terms.js";

/** One thing that keeps a rule from being used. `field` is a JSON path, `message` holds nothing that was sent. */
export interface RuleProblem {
  readonly code: "INVALID_DATE" | "INVALID_TIME" | "INVALID_RANGE" | "INVALID_CAPACITY" | "OUT_OF_RANGE";
  readonly field: string;
  readonly message: string;
}

const longestSlotMinutes = 1440;
const highestDailyCapacity = 10_000;
const sunday = 7;

/**
 * What is wrong with a whole rule after a change was merged into it (specification section 4.7, rule 1: invalid ranges and
 * capacities), in the order of its fields; empty for a rule that can be used. Any text and any number may be in it: a field
 * that is wrong by itself is reported as far as this folder relies on it, and what depends on the field is then not judged.
 * Overlap, which takes a second rule, is judged by `overlaps`.
 */
export function ruleProblems(rule: ProgramRuleTerms): RuleProblem[] {
  return [
    ...capacityProblems(rule),
    ...durationProblems(rule),
    ...timeProblems(rule),
    ...weekdayProblems(rule),
    ...validityProblems(rule),
    ...rule.holidayDates.flatMap((date, i) => dateProblems(`holidayDates[${i}]`, date)),
  ];
}

function capacityProblems({ dailyCapacity }: ProgramRuleTerms): RuleProblem[] {
  if (isWholeWithin(dailyCapacity, highestDailyCapacity)) return [];
  const message = `the value must be from 1 to ${highestDailyCapacity}`;
  return [{ code: "INVALID_CAPACITY", field: "dailyCapacity", message }];
}

function durationProblems({ slotDurationMinutes }: ProgramRuleTerms): RuleProblem[] {
  if (isWholeWithin(slotDurationMinutes, longestSlotMinutes)) return [];
  const message = `the value must be from 1 to ${longestSlotMinutes}`;
  return [{ code: "OUT_OF_RANGE", field: "slotDurationMinutes", message }];
}

function timeProblems({ startsAtLocal, endsAtLocal, slotDurationMinutes }: ProgramRuleTerms): RuleProblem[] {
  const [start, end] = [parseLocalTime(startsAtLocal), parseLocalTime(endsAtLocal)];
  const message = "the value must be a local time, HH:MM or HH:MM:SS";
  const problems: RuleProblem[] = [];
  if (start === undefined) problems.push({ code: "INVALID_TIME", field: "startsAtLocal", message });
  if (end === undefined) problems.push({ code: "INVALID_TIME", field: "endsAtLocal", message });
  if (start === undefined || end === undefined) return problems;
  if (start >= end) {
    return [{ code: "INVALID_RANGE", field: "endsAtLocal", message: "the value must be after startsAtLocal" }];
  }
  return fitProblems(localWindow(startsAtLocal, endsAtLocal), slotDurationMinutes);
}

function fitProblems(window: LocalWindow, slotDurationMinutes: number): RuleProblem[] {
  if (!isWholeWithin(slotDurationMinutes, longestSlotMinutes)) return [];
  if (countSlots(window, slotDurationMinutes) >= 1) return [];
  const message = "at least one slot must fit between startsAtLocal and endsAtLocal";
  return [{ code: "INVALID_CAPACITY", field: "slotDurationMinutes", message }];
}

function weekdayProblems({ weekdays }: ProgramRuleTerms): RuleProblem[] {
  return weekdays.flatMap((weekday, i) => {
    if (isWholeWithin(weekday, sunday)) return [];
    return [{ code: "OUT_OF_RANGE", field: `weekdays[${i}]`, message: `the value must be from 1 to ${sunday}` }];
  });
}

function validityProblems({ validFrom, validTo }: ProgramRuleTerms): RuleProblem[] {
  const problems = [...dateProblems("validFrom", validFrom), ...dateProblems("validTo", validTo)];
  if (problems.length > 0 || validFrom <= validTo) return problems;
  return [{ code: "INVALID_RANGE", field: "validTo", message: "the value must not be before validFrom" }];
}

function dateProblems(field: string, date: string): RuleProblem[] {
  if (isLocalDate(date)) return [];
  return [{ code: "INVALID_DATE", field, message: "the value must be a valid ISO 8601 date" }];
}

function isWholeWithin(value: number, highest: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= highest;
}

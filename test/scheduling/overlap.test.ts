import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { overlaps } from "../../src/scheduling/overlap.js";
import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { datesBetween, isoWeekday, shift } from "./calendar-oracle.js";
import { aRule, monday, rules } from "./rules.js";

const always = { validFrom: "0001-01-01", validTo: "9999-12-31" };

describe("overlaps: time of day", () => {
  it.each([
    ["08:00", "12:00", "08:00", "12:00", true],
    ["08:00", "12:00", "12:00", "14:00", false],
    ["08:00", "12:00", "11:59:59", "14:00", true],
    ["08:00", "12:00:01", "12:00", "14:00", true],
    ["08:00", "12:00", "09:00", "10:00", true],
    ["08:00", "12:00", "14:00", "16:00", false],
    ["08:00", "23:59", "23:59", "23:59:59", true],
    ["08:00", "23:58", "23:59", "23:59:59", false],
    ["08:00", "12:00:00", "12:00", "23:59", false],
  ])("%s to %s and %s to %s: %s", (startA, endA, startB, endB, result) => {
    const a = aRule({ startsAtLocal: startA, endsAtLocal: endA });
    const b = aRule({ startsAtLocal: startB, endsAtLocal: endB });
    expect([overlaps(a, b), overlaps(b, a)]).toEqual([result, result]);
  });
});

describe("overlaps: dates", () => {
  const onMonday = { validFrom: monday, validTo: monday };

  it.each([
    ["no weekday in common", { weekdays: [1, 2] }, { weekdays: [3, 4] }, false],
    ["one weekday in common", { weekdays: [1, 2] }, { weekdays: [2, 3] }, true],
    ["validities that touch on a date of both", { validTo: monday }, { validFrom: monday }, true],
    ["validities that do not touch", { validTo: monday }, { validFrom: "2026-03-03" }, false],
    [
      "a common range without the common weekday",
      { weekdays: [1, 3], validTo: "2026-03-10" },
      { weekdays: [1, 4], validFrom: "2026-03-03", validTo: "2026-03-08" },
      false,
    ],
    ["the only date listed by a SKIP rule", onMonday, { holidayDates: [monday] }, false],
    ["the only date listed by an INCLUDE rule", onMonday, { holidayDates: [monday], holidayPolicy: "INCLUDE" }, true],
    [
      "the only date listed as an exception",
      onMonday,
      { holidayDates: [monday], holidayPolicy: "ONLY_EXCEPTIONS" },
      true,
    ],
    [
      "the only date listed by both",
      { ...onMonday, holidayDates: [monday] },
      { ...onMonday, holidayDates: [monday] },
      false,
    ],
    [
      "each of two dates listed by one",
      { weekdays: [1], validFrom: monday, validTo: "2026-03-09", holidayDates: [monday] },
      { weekdays: [1], holidayDates: ["2026-03-09"] },
      false,
    ],
    [
      "one of two dates listed by both",
      { weekdays: [1], validFrom: monday, validTo: "2026-03-09", holidayDates: [monday] },
      { weekdays: [1], holidayDates: [monday] },
      true,
    ],
    [
      "dates listed that are no candidates",
      onMonday,
      { holidayDates: ["2026-02-23", "2026-03-01", "2026-03-03", "2026-03-09"] },
      true,
    ],
    ["a date listed twice", { ...onMonday, validTo: "2026-03-03" }, { holidayDates: [monday, monday] }, true],
    ["an inactive rule", { active: false }, {}, false],
  ] as const)("%s", (_, changesA, changesB, result) => {
    const [a, b] = [aRule(changesA), aRule(changesB)];
    expect([overlaps(a, b), overlaps(b, a)]).toEqual([result, result]);
  });

  it("compares validities over the whole range of years", () => {
    expect(overlaps(aRule(always), aRule(always))).toBe(true);
    expect(overlaps(aRule({ ...always, weekdays: [6] }), aRule({ ...always, weekdays: [7] }))).toBe(false);
    const last = aRule({ ...always, validFrom: "9999-12-31" });
    expect(overlaps(last, aRule({ ...always, weekdays: [5] }))).toBe(true);
    expect(overlaps(last, aRule({ ...always, holidayDates: ["9999-12-31"] }))).toBe(false);
  });

  it("compares long lists of dates in long validities exactly", () => {
    const mondays = Array.from({ length: 500 }, (_, i) => shift(monday, i * 7));
    const a = aRule({ weekdays: [1], validFrom: monday, validTo: shift(monday, 499 * 7), holidayDates: mondays });
    expect(overlaps(a, aRule({ ...always }))).toBe(false);
    expect(overlaps({ ...a, validTo: shift(monday, 500 * 7) }, aRule(always))).toBe(true);
  });
});

describe("overlaps: properties", () => {
  it("equals a comparison of each date and minute", () => {
    let found = 0;
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        const expected = contendByTheBook(a, b);
        if (expected) found += 1;
        expect(overlaps(a, b)).toBe(expected);
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(50);
  });

  it("is right for a rule and its neighbour, however many dates are closed", () => {
    const allDates = datesBetween(monday, shift(monday, 13));
    fc.assert(
      fc.property(fc.subarray(allDates), fc.subarray(allDates), (closedA, closedB) => {
        const validity = { validFrom: monday, validTo: shift(monday, 13), weekdays: [1, 4, 7] };
        const a = aRule({ ...validity, holidayDates: closedA });
        const b = aRule({ ...validity, holidayDates: closedB });
        expect(overlaps(a, b)).toBe(contendByTheBook(a, b));
      }),
      { numRuns: 300 },
    );
  });
});

function contendByTheBook(a: ProgramRuleAttributes, b: ProgramRuleAttributes): boolean {
  if (!a.active || !b.active) return false;
  const minutes = Array.from({ length: 1440 }, (_, minute) => minute);
  if (!minutes.some((minute) => holdsMinute(a, minute) && holdsMinute(b, minute))) return false;
  return datesBetween(a.validFrom, a.validTo).some((date) => opensDate(a, date) && opensDate(b, date));
}

function holdsMinute({ startsAtLocal, endsAtLocal }: ProgramRuleAttributes, minute: number): boolean {
  const [start, end] = [startsAtLocal, endsAtLocal].map(
    (text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5)),
  );
  return minute >= (start ?? 0) && (minute < (end ?? 0) || end === 1439);
}

function opensDate(rule: ProgramRuleAttributes, date: string): boolean {
  if (date < rule.validFrom || date > rule.validTo || !rule.weekdays.includes(isoWeekday(date))) return false;
  return rule.holidayPolicy !== "SKIP" || !rule.holidayDates.includes(date);
}

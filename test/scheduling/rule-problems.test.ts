import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FieldError } from "../../src/errors.js";
import { overlaps } from "../../src/scheduling/overlap.js";
import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { openDates } from "../../src/scheduling/recurrence.js";
import { ruleProblems } from "../../src/scheduling/rule-problems.js";
import { aRule, dates, localTimes, monday, policies, rules } from "./rules.js";
import { slotsOfRun } from "./slots-of-run.js";

describe("ruleProblems: a valid rule", () => {
  it.each([
    [{}],
    [{ dailyCapacity: 1 }],
    [{ dailyCapacity: 10_000 }],
    [{ startsAtLocal: "08:00", endsAtLocal: "08:30" }],
    [{ startsAtLocal: "00:00", endsAtLocal: "23:59", slotDurationMinutes: 1440 }],
    [{ startsAtLocal: "23:59", endsAtLocal: "23:59:59", slotDurationMinutes: 1 }],
    [{ validFrom: monday, validTo: monday }],
    [{ validFrom: "0001-01-01", validTo: "9999-12-31" }],
    [{ validFrom: monday, validTo: monday, weekdays: [2] }],
    [{ holidayDates: [monday], validTo: monday }],
    [{ active: false }],
  ])("%o", (changes) => {
    expect(ruleProblems(aRule(changes))).toEqual([]);
  });
});

describe("ruleProblems: an invalid rule", () => {
  it.each<[Partial<ProgramRuleAttributes>, string, string]>([
    [{ startsAtLocal: "12:00", endsAtLocal: "12:00" }, "INVALID_RANGE", "endsAtLocal"],
    [{ startsAtLocal: "12:00:01", endsAtLocal: "12:00" }, "INVALID_RANGE", "endsAtLocal"],
    [{ startsAtLocal: "23:59", endsAtLocal: "23:59" }, "INVALID_RANGE", "endsAtLocal"],
    [{ startsAtLocal: "22:00", endsAtLocal: "00:00" }, "INVALID_RANGE", "endsAtLocal"],
    [{ endsAtLocal: "08:29:59" }, "INVALID_CAPACITY", "slotDurationMinutes"],
    [{ slotDurationMinutes: 241 }, "INVALID_CAPACITY", "slotDurationMinutes"],
    [
      { startsAtLocal: "00:01", endsAtLocal: "23:59", slotDurationMinutes: 1440 },
      "INVALID_CAPACITY",
      "slotDurationMinutes",
    ],
    [{ validFrom: "2026-03-03", validTo: monday }, "INVALID_RANGE", "validTo"],
    [{ dailyCapacity: 0 }, "INVALID_CAPACITY", "dailyCapacity"],
    [{ dailyCapacity: 10_001 }, "INVALID_CAPACITY", "dailyCapacity"],
    [{ dailyCapacity: 1.5 }, "INVALID_CAPACITY", "dailyCapacity"],
    [{ slotDurationMinutes: 0 }, "OUT_OF_RANGE", "slotDurationMinutes"],
    [{ slotDurationMinutes: -30 }, "OUT_OF_RANGE", "slotDurationMinutes"],
    [{ slotDurationMinutes: 1441 }, "OUT_OF_RANGE", "slotDurationMinutes"],
    [{ slotDurationMinutes: Number.NaN }, "OUT_OF_RANGE", "slotDurationMinutes"],
    [{ startsAtLocal: "24:00" }, "INVALID_TIME", "startsAtLocal"],
    [{ endsAtLocal: "24:00" }, "INVALID_TIME", "endsAtLocal"],
    [{ weekdays: [1, 0] }, "OUT_OF_RANGE", "weekdays[1]"],
    [{ weekdays: [8] }, "OUT_OF_RANGE", "weekdays[0]"],
    [{ validFrom: "2026-02-30" }, "INVALID_DATE", "validFrom"],
    [{ validTo: "infinity" }, "INVALID_DATE", "validTo"],
    [{ holidayDates: [monday, "2026-02-29"] }, "INVALID_DATE", "holidayDates[1]"],
  ])("%o is %s on %s", (changes, code, field) => {
    const problems: FieldError[] = ruleProblems(aRule(changes));
    expect(problems).toEqual([{ code, field, message: expect.stringMatching(/^[^"']{20,}$/) }]);
  });

  it("reports all problems at once, in the order of the fields", () => {
    const problems = ruleProblems(
      aRule({
        dailyCapacity: 0,
        slotDurationMinutes: 0,
        startsAtLocal: "late",
        endsAtLocal: "later",
        weekdays: [9],
        validFrom: "soon",
        validTo: "never",
        holidayDates: ["some day"],
      }),
    );
    const fields = ["dailyCapacity", "slotDurationMinutes", "startsAtLocal", "endsAtLocal", "weekdays[0]"];
    expect(problems.map(({ field }) => field)).toEqual([...fields, "validFrom", "validTo", "holidayDates[0]"]);
    expect(JSON.stringify(problems)).not.toMatch(/late|soon|never|some day/);
  });
});

describe("ruleProblems: properties", () => {
  const anyRule: fc.Arbitrary<ProgramRuleAttributes> = fc.record({
    active: fc.boolean(),
    dailyCapacity: fc.oneof(fc.double(), fc.integer({ min: -1, max: 10_001 })),
    slotDurationMinutes: fc.oneof(fc.double(), fc.integer({ min: -1, max: 1441 })),
    startsAtLocal: fc.oneof(fc.string(), localTimes),
    endsAtLocal: fc.oneof(fc.string(), localTimes),
    recurrence: fc.constant("WEEKLY"),
    weekdays: fc.array(fc.oneof(fc.integer({ min: 0, max: 8 }), fc.double())),
    validFrom: fc.oneof(fc.string(), dates),
    validTo: fc.oneof(fc.string(), dates),
    holidayDates: fc.array(fc.oneof(fc.string(), dates), { maxLength: 5 }),
    holidayPolicy: fc.constantFrom(...policies),
  });

  it("accepts any text and number without an error", () => {
    fc.assert(
      fc.property(anyRule, (rule) => {
        expect(() => ruleProblems(rule)).not.toThrow();
      }),
    );
  });

  it("finds none exactly if a window has room for a slot", () => {
    fc.assert(
      fc.property(rules, (rule) => {
        expect(ruleProblems(rule).length === 0).toBe(slotsOfRun(rule, rule.validFrom).length > 0);
      }),
    );
  });

  it("if it finds none, no other function throws", () => {
    let usable = 0;
    fc.assert(
      fc.property(fc.oneof(anyRule, rules), (rule) => {
        if (ruleProblems(rule).length > 0) return;
        usable += 1;
        overlaps(rule, aRule());
        for (const date of openDates(rule, "0001-01-01", "9999-12-31", new Set())) slotsOfRun(rule, date);
      }),
    );
    expect(usable).toBeGreaterThan(10);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largestPlan } from "../../src/scheduling/plan-size.js";
import { datesBetween, shift } from "./calendar-oracle.js";
import { aRule, dates, monday, rules } from "./rules.js";
import { opensByTheBook, slotsByTheBook } from "./slot-oracle.js";

const none = new Set<string>();
const everyDay = { weekdays: [1, 2, 3, 4, 5, 6, 7], validFrom: "0001-01-01", validTo: "9999-12-31" };

describe("largestPlan", () => {
  it("counts the slots of the 91 dates from today on", () => {
    expect(largestPlan([aRule(everyDay)], monday)).toBe(91 * 8);
    expect(largestPlan([aRule({ ...everyDay, weekdays: [1, 2] })], monday)).toBe(26 * 8);
    expect(largestPlan([aRule({ ...everyDay, startsAtLocal: "00:00", endsAtLocal: "23:59" })], monday)).toBe(91 * 48);
  });

  it("ignores past dates and inactive rules", () => {
    expect(largestPlan([aRule({ ...everyDay, validTo: "2026-03-01" })], monday)).toBe(0);
    expect(largestPlan([aRule({ ...everyDay, active: false })], monday)).toBe(0);
    expect(largestPlan([], monday)).toBe(0);
  });

  it("includes the future dates at which rules begin", () => {
    expect(largestPlan([aRule({ ...everyDay, validFrom: "9999-12-30" })], monday)).toBe(2 * 8);
    const later = aRule({ ...everyDay, validFrom: "2030-01-01", slotDurationMinutes: 10 });
    expect(largestPlan([aRule(everyDay), later], monday)).toBe(91 * (8 + 24));
  });

  it("adds rules only if they fall into the same 91 dates", () => {
    const [first, second] = [{ validTo: "2026-03-31" }, { validFrom: "2026-07-01" }];
    expect(largestPlan([aRule({ ...everyDay, ...first }), aRule({ ...everyDay, ...second })], monday)).toBe(91 * 8);
  });

  it("includes the first and the last of the 91 dates", () => {
    const last = shift(monday, 90);
    expect(largestPlan([aRule({ ...everyDay, validTo: monday })], monday)).toBe(8);
    const [until, on] = [aRule({ ...everyDay, validTo: last }), aRule({ ...everyDay, validFrom: last, validTo: last })];
    expect(largestPlan([until, on], monday)).toBe(92 * 8);
  });

  it("includes the dates that end with the last day of a rule", () => {
    const early = aRule({ ...everyDay, validTo: shift(monday, 100), endsAtLocal: "08:30" });
    const late = aRule({ ...everyDay, validFrom: shift(monday, 50), validTo: shift(monday, 120) });
    expect(largestPlan([early, late], monday)).toBe(71 * 1 + 71 * 8);
  });

  it("is never less than a count date by date", () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 4 }), dates, (all, today) => {
        const found = datesBetween(today, shift(today, 90)).flatMap((date) =>
          all.flatMap((rule) => (opensByTheBook(rule, date, none) ? slotsByTheBook(rule, date) : [])),
        );
        expect(largestPlan(all, today)).toBeGreaterThanOrEqual(found.length);
      }),
      { numRuns: 100 },
    );
  });
});

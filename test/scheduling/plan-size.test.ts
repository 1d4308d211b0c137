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

  it("leaves out what is over and what is switched off", () => {
    expect(largestPlan([aRule({ ...everyDay, validTo: "2026-03-01" })], monday)).toBe(0);
    expect(largestPlan([aRule({ ...everyDay, active: false })], monday)).toBe(0);
    expect(largestPlan([], monday)).toBe(0);
  });

  it("looks ahead to where rules begin", () => {
    expect(largestPlan([aRule({ ...everyDay, validFrom: "9999-12-30" })], monday)).toBe(2 * 8);
    const later = aRule({ ...everyDay, validFrom: "2030-01-01", slotDurationMinutes: 10 });
    expect(largestPlan([aRule(everyDay), later], monday)).toBe(91 * (8 + 24));
  });

  it("counts rules together only where they fall into the same 91 dates", () => {
    const [first, second] = [{ validTo: "2026-03-31" }, { validFrom: "2026-07-01" }];
    expect(largestPlan([aRule({ ...everyDay, ...first }), aRule({ ...everyDay, ...second })], monday)).toBe(91 * 8);
  });

  it("is never less than what looking at every date gives", () => {
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

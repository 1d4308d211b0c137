import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isOpenOn, openDates } from "../../src/scheduling/recurrence.js";
import { datesBetween, shift } from "./calendar-oracle.js";
import { aRule, dates, monday, rules } from "./rules.js";
import { opensByTheBook } from "./slot-oracle.js";

const none = new Set<string>();

describe("isOpenOn: weekday and validity", () => {
  it.each([
    ["a date of a weekday of the rule", {}, monday, true],
    ["another weekday", { weekdays: [2, 7] }, monday, false],
    ["Sunday, which is 7", { weekdays: [7] }, "2026-03-08", true],
    ["the first date of the validity", { validFrom: monday }, monday, true],
    ["the last date of the validity", { validTo: monday }, monday, true],
    ["the day before the validity", { validFrom: "2026-03-03" }, monday, false],
    ["the day after the validity", { validTo: "2026-03-01" }, monday, false],
    ["the last representable date", { validTo: "9999-12-31" }, "9999-12-31", true],
    ["an inactive rule", { active: false }, monday, false],
  ] as const)("%s", (_, changes, date, open) => {
    expect(isOpenOn(aRule(changes), date, none)).toBe(open);
  });

  it("rejects text that is not a date", () => {
    expect(() => isOpenOn(aRule(), "2026-02-30", none)).toThrow(RangeError);
  });
});

describe("isOpenOn: holidays", () => {
  const holiday = new Set([monday]);
  const listed = { holidayDates: [monday] };

  it.each([
    ["SKIP", none, {}, true],
    ["SKIP", holiday, {}, false],
    ["SKIP", none, listed, false],
    ["SKIP", holiday, listed, false],
    ["INCLUDE", none, {}, true],
    ["INCLUDE", holiday, {}, true],
    ["INCLUDE", none, listed, true],
    ["INCLUDE", holiday, listed, true],
    ["ONLY_EXCEPTIONS", none, {}, true],
    ["ONLY_EXCEPTIONS", holiday, {}, false],
    ["ONLY_EXCEPTIONS", none, listed, true],
    ["ONLY_EXCEPTIONS", holiday, listed, true],
  ] as const)("%s, with %o as holidays of the tenant and %o", (holidayPolicy, tenantHolidays, changes, open) => {
    expect(isOpenOn(aRule({ holidayPolicy, ...changes }), monday, tenantHolidays)).toBe(open);
  });

  it.each([
    ["INCLUDE", []],
    ["INCLUDE", [monday]],
    ["ONLY_EXCEPTIONS", [monday]],
  ] as const)("%s with %o opens no weekday and no date outside the validity", (holidayPolicy, holidayDates) => {
    expect(isOpenOn(aRule({ holidayPolicy, holidayDates, weekdays: [2] }), monday, holiday)).toBe(false);
    expect(isOpenOn(aRule({ holidayPolicy, holidayDates, validFrom: "2026-03-03" }), monday, holiday)).toBe(false);
  });
});

describe("openDates", () => {
  const holidaySets = fc.uniqueArray(dates, { maxLength: 10 }).map((list) => new Set(list));

  it("equals a check of each date", () => {
    fc.assert(
      fc.property(rules, dates, dates, holidaySets, (rule, a, b, holidays) => {
        const [from, to] = [shift(a, -10), shift(b, 10)];
        const asked = datesBetween(from, to).filter((date) => opensByTheBook(rule, date, holidays));
        expect([...openDates(rule, from, to, holidays)]).toEqual(asked);
      }),
      { numRuns: 300 },
    );
  });

  it("iterates only over dates in both the range and the validity", () => {
    const [open, always] = [[1, 2, 3, 4, 5, 6, 7], { validFrom: "0001-01-01", validTo: "9999-12-31" }];
    const rule = aRule({ weekdays: open, ...always });
    expect([...openDates(rule, "9999-12-30", "9999-12-31", none)]).toEqual(["9999-12-30", "9999-12-31"]);
    expect([...openDates(rule, "0001-01-01", "0001-01-02", none)]).toEqual(["0001-01-01", "0001-01-02"]);
    const short = aRule({ weekdays: open, validFrom: monday, validTo: monday });
    expect([...openDates(short, "0001-01-01", "9999-12-31", none)]).toEqual([monday]);
  });

  it("is evaluated lazily", () => {
    const dateSequence = openDates(aRule({ validTo: "9999-12-31" }), monday, "9999-12-31", none);
    expect(dateSequence.next()).toEqual({ done: false, value: monday });
  });

  it("returns nothing for an inactive rule or a reversed range", () => {
    expect([...openDates(aRule({ active: false }), monday, "2026-03-06", none)]).toEqual([]);
    expect([...openDates(aRule(), "2026-03-06", monday, none)]).toEqual([]);
  });
});

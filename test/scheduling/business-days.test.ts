import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addBusinessDays } from "../../src/scheduling/business-days.js";
import { isoWeekday, shift } from "./calendar-oracle.js";
import { dates, monday } from "./rules.js";

const none = new Set<string>();

describe("addBusinessDays", () => {
  it.each([
    ["nothing", monday, 0, [], monday],
    ["nothing, from a Sunday", "2026-03-08", 0, [], "2026-03-08"],
    ["nothing, from a holiday", monday, 0, [monday], monday],
    ["a day within the week", monday, 1, [], "2026-03-03"],
    ["to Friday", monday, 4, [], "2026-03-06"],
    ["over a weekend", monday, 5, [], "2026-03-09"],
    ["from a Friday", "2026-03-06", 1, [], "2026-03-09"],
    ["from a Saturday", "2026-03-07", 1, [], "2026-03-09"],
    ["from a Sunday", "2026-03-08", 1, [], "2026-03-09"],
    ["over a holiday", monday, 1, ["2026-03-03"], "2026-03-04"],
    ["over holidays that follow each other", monday, 1, ["2026-03-04", "2026-03-03"], "2026-03-05"],
    ["onto a holiday that the last one pushed it to", monday, 4, ["2026-03-03", "2026-03-09"], "2026-03-10"],
    ["over a holiday on a Sunday, which counts once", monday, 5, ["2026-03-08"], "2026-03-09"],
    ["past a holiday that is today", monday, 1, [monday], "2026-03-03"],
    ["short of a later holiday", monday, 1, ["2026-03-04"], "2026-03-03"],
    ["into another year", "2026-12-31", 1, ["2027-01-01"], "2027-01-04"],
    ["up to the last date there is", "9999-12-30", 5, [], "9999-12-31"],
    ["by any number", monday, Number.MAX_SAFE_INTEGER, [monday], "9999-12-31"],
  ])("goes %s", (_, date, days, holidays, result) => {
    expect(addBusinessDays(date, days, new Set(holidays))).toBe(result);
  });

  it("says what counting day by day says", () => {
    const holidaySets = fc.uniqueArray(dates, { maxLength: 25 }).map((list) => new Set(list));
    fc.assert(
      fc.property(dates, fc.integer({ min: 0, max: 60 }), holidaySets, (date, days, holidays) => {
        expect(addBusinessDays(date, days, holidays)).toBe(countByTheBook(date, days, holidays));
      }),
      { numRuns: 300 },
    );
  });

  it.each([-1, 1.5, Number.NaN])("refuses %d days", (days) => {
    expect(() => addBusinessDays(monday, days, none)).toThrow(RangeError);
  });
});

function countByTheBook(date: string, days: number, holidays: ReadonlySet<string>): string {
  let [end, left] = [date, days];
  while (left > 0) {
    end = shift(end, 1);
    if (isoWeekday(end) < 6 && !holidays.has(end)) left -= 1;
  }
  return end;
}

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastDayOfWait, type WaitLimit } from "../../src/scheduling/last-day-of-wait.js";
import { addCalendarDays, weekdayOf } from "../../src/scheduling/local-date.js";

describe("the last day of a wait", () => {
  test.each<[string, number, WaitLimit["dayKind"], readonly string[], string]>([
    ["2026-11-18", 3, "BUSINESS", [], "2026-11-23"],
    ["2026-11-20", 1, "BUSINESS", [], "2026-11-23"],
    ["2026-11-21", 1, "BUSINESS", [], "2026-11-23"],
    ["2026-11-22", 3, "BUSINESS", [], "2026-11-25"],
    ["2026-11-13", 1, "BUSINESS", ["2026-11-16"], "2026-11-17"],
    ["2026-12-23", 3, "BUSINESS", ["2026-12-25", "2027-01-01"], "2026-12-29"],
    ["2026-12-23", 3, "CALENDAR", ["2026-12-25"], "2026-12-26"],
    ["2026-11-16", 1, "BUSINESS", ["2026-11-16"], "2026-11-17"],
    ["2026-11-20", 1, "BUSINESS", ["2026-11-21", "2026-11-22"], "2026-11-23"],
    ["9999-12-30", 3650, "BUSINESS", [], "9999-12-31"],
  ])("of a request on %s with %i %s days and the holidays %o is %s", (from, maxWaitDays, dayKind, holidays, last) => {
    expect(lastDayOfWait(from, { maxWaitDays, dayKind }, holidays)).toBe(last);
  });

  test("equals the result of counting day by day", () => {
    const dates = fc.integer({ min: 0, max: 400 }).map((days) => addCalendarDays("2026-01-01", days));
    fc.assert(
      fc.property(
        dates,
        fc.integer({ min: 1, max: 90 }),
        fc.uniqueArray(dates, { maxLength: 60 }),
        (from, days, closed) => {
          const limit = { maxWaitDays: days, dayKind: "BUSINESS" } as const;
          expect(lastDayOfWait(from, limit, closed.toSorted())).toBe(counted(from, days, new Set(closed)));
        },
      ),
    );
  });
});

function counted(from: string, days: number, holidays: ReadonlySet<string>): string {
  let date = from;
  for (let left = days; left > 0; ) {
    date = addCalendarDays(date, 1);
    if (weekdayOf(date) <= 5 && !holidays.has(date)) left -= 1;
  }
  return date;
}

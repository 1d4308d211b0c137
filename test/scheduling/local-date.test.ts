import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addCalendarDays,
  countDatesOn,
  earlierDate,
  isLocalDate,
  laterDate,
  previousDate,
  weekdayOf,
} from "../../src/scheduling/local-date.js";
import { datesBetween, isoWeekday, shift } from "./calendar-oracle.js";

const anyDate = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const weekdaySets = fc.subarray([1, 2, 3, 4, 5, 6, 7]).map((weekdays) => new Set(weekdays));

describe("isLocalDate", () => {
  it.each(["0001-01-01", "1900-02-28", "2000-02-29", "2024-02-29", "2026-12-31", "9999-12-31"])(
    "accepts %s",
    (text) => {
      expect(isLocalDate(text)).toBe(true);
    },
  );

  it.each([
    "",
    "0000-01-01",
    "1900-02-29",
    "2026-02-29",
    "2026-02-30",
    "2026-04-31",
    "2026-00-10",
    "2026-13-10",
    "2026-01-00",
    "2026-01-32",
    "2026-1-1",
    "20260101",
    "+002026-01-01",
    "-000001-01-01",
    "10000-01-01",
    "2026-01-01T00:00:00Z",
    " 2026-01-01",
    "2026-01-01\n",
    "today",
    "infinity",
  ])("rejects %j", (text) => {
    expect(isLocalDate(text)).toBe(false);
  });

  it("accepts exactly the dates that exist", () => {
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const text = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
        const ms = Date.parse(`${text}T00:00:00Z`);
        expect(isLocalDate(text)).toBe(!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text));
      }),
    );
  });
});

describe("weekdayOf", () => {
  it.each([
    ["2026-03-02", 1],
    ["2026-03-08", 7],
    ["0001-01-01", 1],
    ["9999-12-31", 5],
  ])("of %s is %d", (date, weekday) => {
    expect(weekdayOf(date)).toBe(weekday);
  });

  it("agrees with the oracle on any date", () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(weekdayOf(date)).toBe(isoWeekday(date));
      }),
    );
  });
});

describe("addCalendarDays", () => {
  it.each([
    ["2026-02-27", 0, "2026-02-27"],
    ["2026-02-27", 2, "2026-03-01"],
    ["2024-02-28", 1, "2024-02-29"],
    ["2026-12-31", 1, "2027-01-01"],
    ["9999-12-30", 1, "9999-12-31"],
    ["9999-12-30", 2, "9999-12-31"],
    ["9999-12-31", 0, "9999-12-31"],
    ["2026-01-01", Number.MAX_SAFE_INTEGER, "9999-12-31"],
  ])("%s and %d days is %s", (date, days, result) => {
    expect(addCalendarDays(date, days)).toBe(result);
  });

  it("agrees with the oracle", () => {
    const days = fc.integer({ min: 0, max: 5000 });
    fc.assert(
      fc.property(anyDate, days, (date, count) => {
        fc.pre(date < "9980");
        expect(addCalendarDays(date, count)).toBe(shift(date, count));
      }),
    );
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("rejects %d days", (days) => {
    expect(() => addCalendarDays("2026-01-01", days)).toThrow(RangeError);
  });
});

describe("earlierDate and laterDate", () => {
  it.each([
    ["2026-02-28", "2026-03-01"],
    ["2026-12-31", "2027-01-01"],
    ["2026-03-01", "2026-03-01"],
  ])("return %s and %s, in any order", (earlier, later) => {
    for (const [one, other] of [
      [earlier, later],
      [later, earlier],
    ] as const)
      expect([earlierDate(one, other), laterDate(one, other)]).toEqual([earlier, later]);
  });
});

describe("previousDate", () => {
  it.each([
    ["2026-03-01", "2026-02-28"],
    ["2024-03-01", "2024-02-29"],
    ["2027-01-01", "2026-12-31"],
    ["0001-01-02", "0001-01-01"],
  ])("of %s is %s", (date, result) => {
    expect(previousDate(date)).toBe(result);
  });

  it("refuses the first date", () => {
    expect(() => previousDate("0001-01-01")).toThrow(RangeError);
  });
});

describe("countDatesOn", () => {
  it("equals a count date by date", () => {
    fc.assert(
      fc.property(anyDate, fc.integer({ min: 0, max: 40 }), weekdaySets, (from, length, weekdays) => {
        fc.pre(from < "9999");
        const to = shift(from, length);
        const walked = datesBetween(from, to).filter((date) => weekdays.has(isoWeekday(date)));
        expect(countDatesOn(weekdays, from, to)).toBe(walked.length);
      }),
    );
  });

  it("adds up over parts of any length", () => {
    fc.assert(
      fc.property(anyDate, anyDate, anyDate, weekdaySets, (a, b, c, weekdays) => {
        const [from = a, middle = b, to = c] = [a, b, c].toSorted();
        fc.pre(middle < to);
        const parts = countDatesOn(weekdays, from, middle) + countDatesOn(weekdays, shift(middle, 1), to);
        expect(countDatesOn(weekdays, from, to)).toBe(parts);
      }),
    );
  });

  it("handles the whole calendar and an empty range", () => {
    expect(countDatesOn(new Set([1, 2, 3, 4, 5, 6, 7]), "0001-01-01", "9999-12-31")).toBe(3_652_059);
    expect(countDatesOn(new Set([1]), "2026-03-02", "2026-03-01")).toBe(0);
    expect(countDatesOn(new Set([1]), "2026-03-30", "2026-03-01")).toBe(0);
  });
});

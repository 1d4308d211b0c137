import { describe, expect, test } from "vitest";
import {
  changeableSpan,
  commonDates,
  datesChangedAtOnce,
  plannedThrough,
  widestSpan,
} from "../../src/scheduling/horizon.js";

const now = Date.parse("2026-11-20T23:30:00-05:00");
const near = { from: "2026-11-20", through: "2027-02-18" };

describe("the dates that two ranges have in common", () => {
  const range = { from: "2026-11-10", through: "2026-11-20" };

  test.each([
    ["one within the other", { from: "2026-11-12", through: "2026-11-13" }, "2026-11-12", "2026-11-13"],
    ["a part", { from: "2026-11-15", through: "2026-11-30" }, "2026-11-15", "2026-11-20"],
    ["the last date", { from: "2026-11-20", through: "2026-11-30" }, "2026-11-20", "2026-11-20"],
    ["the first date", { from: "2026-11-01", through: "2026-11-10" }, "2026-11-10", "2026-11-10"],
  ])("are %s", (_, other, from, through) => {
    expect([commonDates(range, other), commonDates(other, range)]).toEqual([
      { from, through },
      { from, through },
    ]);
  });

  test("are none if one range ends before the other begins", () => {
    expect(commonDates(range, { from: "2026-11-21", through: "2026-11-30" })).toBeUndefined();
  });
});

describe("the schedule of a program", () => {
  test.each([
    [1, "2027-02-18"],
    [90, "2027-02-18"],
    [91, "2027-02-19"],
    [400, "2027-12-25"],
  ])("that can be booked for %i days is made through %s", (horizonDays, through) => {
    expect(plannedThrough({ horizonDays }, now)).toBe(through);
  });

  test("is made for at most 400 days after today", () => {
    expect(widestSpan(now)).toEqual({ from: "2026-11-20", through: "2027-12-25" });
  });

  test.each([
    ["as far as it is planned", 120, undefined, "2027-03-20"],
    ["as far as it is planned, if its last slot is earlier", 120, "2027-01-01", "2027-03-20"],
    ["as far as its last slot, after its horizon was shortened", 90, "2027-05-01", "2027-05-01"],
  ])("can change %s", (_, horizonDays, slotsThrough, through) => {
    expect(changeableSpan({ horizonDays, slotsThrough }, now)).toEqual({ from: "2026-11-20", through });
  });

  test.each([
    ["on the next 90 days, if later dates are planned", 91, "2027-05-01", near],
    ["on all dates with slots, if no later date is planned", 90, "2027-05-01", { ...near, through: "2027-05-01" }],
    ["on the next 90 days, if no later date is planned or has slots", 30, undefined, near],
  ])("changes at once %s", (_, horizonDays, slotsThrough, span) => {
    expect(datesChangedAtOnce({ horizonDays, slotsThrough }, now)).toEqual(span);
  });
});

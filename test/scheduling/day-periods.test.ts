import { describe, expect, it } from "vitest";
import { dayPeriodAt, dayPeriodOf, dayPeriods } from "../../src/scheduling/day-periods.js";
import { parseLocalTime } from "../../src/scheduling/local-time.js";

describe("dayPeriodOf", () => {
  it.each([
    ["00:00", "NIGHT"],
    ["05:59:59", "NIGHT"],
    ["06:00", "MORNING"],
    ["11:59:59", "MORNING"],
    ["12:00", "AFTERNOON"],
    ["17:59:59", "AFTERNOON"],
    ["18:00", "EVENING"],
    ["21:59:59", "EVENING"],
    ["22:00", "NIGHT"],
    ["23:59:59", "NIGHT"],
  ])("%s is in the %s", (time, period) => {
    expect(dayPeriodOf(parseLocalTime(time) ?? Number.NaN)).toBe(period);
  });

  it("agrees with the windows, of which each second of the day is in exactly one", () => {
    const windows = Object.entries(dayPeriods).flatMap(([period, parts]) => parts.map((part) => ({ period, ...part })));
    for (let second = 0; second < 86_400; second += 1) {
      const holding = windows.filter(({ startSecond, endSecond }) => startSecond <= second && second < endSecond);
      if (holding.length !== 1 || holding[0]?.period !== dayPeriodOf(second)) expect.fail(`second ${second}`);
    }
  });
});

describe("dayPeriodAt", () => {
  it.each([
    ["2026-03-02T10:59:59Z", "NIGHT"],
    ["2026-03-02T11:00:00Z", "MORNING"],
    ["2026-03-03T02:59:59.999Z", "EVENING"],
    ["2026-03-03T03:00:00Z", "NIGHT"],
  ])("%s is in the %s of Bogotá", (instant, period) => {
    expect(dayPeriodAt(Date.parse(instant))).toBe(period);
  });
});

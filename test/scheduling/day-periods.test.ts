import { describe, expect, it } from "vitest";
import { dayPeriods, periodOf } from "../../src/scheduling/day-periods.js";
import { parseLocalTime } from "../../src/scheduling/local-time.js";

describe("the windows of the periods of a day", () => {
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
    const second = parseLocalTime(time) ?? Number.NaN;
    expect([periodsOf(second), periodOf(second)]).toEqual([[period], period]);
  });

  it("contain each second of the day once", () => {
    for (let second = 0; second < 86_400; second += 1) {
      if (periodsOf(second).length !== 1) expect.fail(`second ${second}`);
    }
  });
});

function periodsOf(second: number): string[] {
  return Object.entries(dayPeriods).flatMap(([period, windows]) =>
    windows.filter(({ startSecond, endSecond }) => startSecond <= second && second < endSecond).map(() => period),
  );
}

import { expect, test } from "vitest";
import { localShift, shiftLocally } from "../../src/scheduling/local-shift.js";

const DAY = 86_400;

test.each([
  ["the same instant", "2026-11-20T10:00:00-05:00", "2026-11-20T10:00:00-05:00", 0],
  ["an hour later", "2026-11-20T10:00:00-05:00", "2026-11-20T11:00:00-05:00", 3_600],
  ["the next day, an hour earlier", "2026-11-20T10:00:00-05:00", "2026-11-21T09:00:00-05:00", DAY - 3_600],
  ["the day before", "2026-11-20T10:00:00-05:00", "2026-11-19T10:00:00-05:00", -DAY],
  ["over midnight", "2026-11-20T23:30:00-05:00", "2026-11-21T00:30:00-05:00", 3_600],
  ["over a leap day", "2028-02-28T10:00:00-05:00", "2028-03-01T10:00:00-05:00", 2 * DAY],
  ["over a clock change, which does not count", "1992-05-02T10:00:00-05:00", "1992-05-04T10:00:00-04:00", 2 * DAY],
  ["half a second later", "2026-11-20T10:00:00-05:00", "2026-11-20T10:00:00.500-05:00", 0.5],
])("the local clock shows the shift between two instants: %s", (_, from, to, seconds) => {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  expect(localShift(fromMs, toMs)).toBe(seconds);
  expect(shiftLocally(fromMs, seconds)).toBe(toMs);
});

import { expect, test } from "vitest";
import { earliestStepMs, type VisitStep } from "../../src/scheduling/visit-times.js";

const margins = { checkInEarlyMinutes: 240, attendedEarlyMinutes: 60, noShowGraceMinutes: 15 };

test.each<[VisitStep, string, string]>([
  ["CHECKED_IN", "2026-11-20T08:00:00-05:00", "2026-11-20T04:00:00-05:00"],
  ["CHECKED_IN", "2026-11-20T01:30:00-05:00", "2026-11-20T00:00:00-05:00"],
  ["CHECKED_IN", "2026-11-20T23:30:00-05:00", "2026-11-20T19:30:00-05:00"],
  ["ATTENDED", "2026-11-20T08:00:00-05:00", "2026-11-20T07:00:00-05:00"],
  ["NO_SHOW", "2026-11-20T23:50:00-05:00", "2026-11-21T00:05:00-05:00"],
])("an appointment can become %s if it begins at %s, from %s on", (step, startsAt, earliest) => {
  expect(earliestStepMs(step, Date.parse(startsAt), margins)).toBe(Date.parse(earliest));
});

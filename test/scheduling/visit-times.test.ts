import { expect, test } from "vitest";
import { earliestStepMs, marginsOf, type VisitStep } from "../../src/scheduling/visit-times.js";

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

test("a margin that the tenant has not set is the default, and a margin of 0 is 0", () => {
  const unset = { checkInEarlyMinutes: undefined, attendedEarlyMinutes: undefined, noShowGraceMinutes: undefined };
  const none = { checkInEarlyMinutes: 0, attendedEarlyMinutes: 0, noShowGraceMinutes: 0 };
  expect(marginsOf(unset, margins)).toEqual(margins);
  expect(marginsOf(none, margins)).toEqual(none);
});

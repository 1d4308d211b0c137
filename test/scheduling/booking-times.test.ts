import { describe, expect, test } from "vitest";
import {
  earliestStart,
  endOfBookableStarts,
  isBookableStart,
  isWithinOneDay,
} from "../../src/scheduling/booking-times.js";

const now = at("2026-11-20T10:00:30.500-05:00");

describe("a start can be booked", () => {
  test.each([
    ["the first minute of the grace", "2026-11-20T09:45:00-05:00", true],
    ["a minute before the grace", "2026-11-20T09:44:00-05:00", false],
    ["this minute", "2026-11-20T10:00:00-05:00", true],
    ["half a minute", "2026-11-20T10:05:30-05:00", false],
    ["a millisecond after a whole minute", "2026-11-20T10:05:00.001-05:00", false],
    ["the last minute of the last day", "2027-02-18T23:59:00-05:00", true],
    ["the first minute after the last day", "2027-02-19T00:00:00-05:00", false],
  ])("at %s: %s → %s", (_, start, expected) => {
    expect(isBookableStart(at(start), now)).toBe(expected);
  });

  test("from the minute in which its grace period begins to the end of the 90th day after today", () => {
    expect(earliestStart(now)).toBe(at("2026-11-20T09:45:00-05:00"));
    expect(earliestStart(at("2026-11-20T10:00:00-05:00"))).toBe(at("2026-11-20T09:45:00-05:00"));
    expect(endOfBookableStarts(now)).toBe(at("2027-02-19T00:00:00-05:00"));
  });
});

test.each([
  ["2026-11-20T23:30:00-05:00", 29, true],
  ["2026-11-20T23:30:00-05:00", 30, true],
  ["2026-11-20T23:30:00-05:00", 31, false],
  ["2026-11-20T00:00:00-05:00", 24 * 60, true],
  ["2026-11-20T00:00:00-05:00", 24 * 60 + 1, false],
])("a period that starts at %s and lasts %i minutes is within one day: %s", (start, minutes, expected) => {
  expect(isWithinOneDay(at(start), minutes)).toBe(expected);
});

function at(instant: string): number {
  return Date.parse(instant);
}

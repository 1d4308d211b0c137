import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListedValidator } from "./listed-validator.js";
import { requestWith } from "./valid-requests.js";

const validate = createListedValidator();

describe("local dates", () => {
  const isTaken = (serviceDate: string) =>
    brokenWith("CheckEligibilityRequest", "serviceDate", serviceDate).length === 0;

  it.each([
    ["0001-01-01", true],
    ["9999-12-31", true],
    ["2000-02-29", true],
    ["2024-02-29", true],
    ["1900-02-29", false],
    ["2026-02-29", false],
    ["2026-02-30", false],
    ["2026-04-31", false],
    ["0000-01-01", false],
    ["0000-02-29", false],
    ["10000-01-01", false],
    ["2026-00-10", false],
    ["2026-13-01", false],
    ["2026-01-00", false],
    ["2026-1-1", false],
    ["2026-01-01T00:00:00Z", false],
    ["20260101", false],
    ["2026-01-01 ", false],
    ["2026-01-01\n", false],
    ["２０２６-01-01", false],
    ["today", false],
    ["infinity", false],
    ["", false],
  ])("%j: %s", (text, expected) => {
    expect(isTaken(text)).toBe(expected);
  });

  it("are exactly the days of the calendar", () => {
    const part = (min: number, max: number, digits: number) =>
      fc.integer({ min, max }).map((n) => String(n).padStart(digits, "0"));
    const century = fc.integer({ min: 0, max: 99 }).map((n) => `${String(n).padStart(2, "0")}00`);
    const dateLike = fc
      .tuple(fc.oneof(part(0, 9999, 4), century), part(0, 13, 2), part(0, 32, 2))
      .map((parts) => parts.join("-"));
    const damaged = fc
      .tuple(dateLike, fc.nat(10), fc.string({ maxLength: 2, unit: "grapheme" }))
      .map(([date, at, inserted]) => date.slice(0, at) + inserted + date.slice(at + 1));
    const text = fc.oneof({ weight: 8, arbitrary: dateLike }, damaged, fc.string({ unit: "grapheme" }));
    fc.assert(
      fc.property(text, (each) => isTaken(each) === isDay(each)),
      { numRuns: 3000 },
    );
  });
});

describe("local times", () => {
  const isTaken = (startsAtLocal: string) =>
    brokenWith("UpdateProgramRuleRequest", "startsAtLocal", startsAtLocal).length === 0;
  const two = (n: number) => String(n).padStart(2, "0");
  const minutes = Array.from({ length: 24 * 60 }, (_, n) => `${two(Math.floor(n / 60))}:${two(n % 60)}`);
  const times = new Set(minutes.concat(minutes.flatMap((m) => Array.from({ length: 60 }, (_, s) => `${m}:${two(s)}`))));

  it.each(["24:00", "24:00:00", "23:60", "23:59:60", "8:00", "08:00:0", "08:00Z", "08:00:00.5", "0800", "", "08:00\n"])(
    "rejects %j",
    (text) => {
      expect(brokenWith("UpdateProgramRuleRequest", "endsAtLocal", text)).toEqual(["endsAtLocal INVALID_TIME"]);
    },
  );

  it("are exactly the minutes and seconds of a day", () => {
    const part = fc.nat(99).map((n) => String(n).padStart(2, "0"));
    const timeLike = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(":"));
    const text = fc.oneof(fc.constantFrom(...times), timeLike, fc.string({ unit: "grapheme" }));
    fc.assert(
      fc.property(text, (each) => isTaken(each) === times.has(each)),
      { numRuns: 3000 },
    );
  });
});

function isDay(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined || year === 0) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function brokenWith(name: string, member: string, value: unknown): string[] {
  return validate(...requestWith(name, { [member]: value })).map(({ field, code }) => `${field} ${code}`);
}

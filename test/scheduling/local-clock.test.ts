import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  endOfLocalDay,
  formatInstant,
  instantMsOf,
  localDateAt,
  startOfLocalDay,
} from "../../src/scheduling/local-clock.js";
import { shift } from "./calendar-oracle.js";

/** Since 1994 Bogotá has been five hours behind UTC. In 1992 and 1993 its clocks changed. */
const settled = fc
  .date({ min: new Date("1994-01-01T12:00:00Z"), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.getTime());

describe("localDateAt", () => {
  it.each([
    ["2026-03-02T04:59:59.999Z", "2026-03-01"],
    ["2026-03-02T05:00:00Z", "2026-03-02"],
    ["2027-01-01T04:59:59Z", "2026-12-31"],
    ["2024-02-29T05:00:00Z", "2024-02-29"],
    ["0001-01-01T05:00:00Z", "0001-01-01"],
    ["0001-01-01T00:00:00Z", "0001-01-01"],
  ])("at %s is %s", (instant, date) => {
    expect(localDateAt(Date.parse(instant))).toBe(date);
  });

  it("is the date five hours behind UTC", () => {
    fc.assert(
      fc.property(settled, (ms) => {
        const wall = new Date(ms - 5 * 3_600_000).toISOString();
        expect(localDateAt(ms)).toBe(wall.slice(0, 10));
      }),
    );
  });
});

describe("a local day", () => {
  it.each([
    ["2026-03-02", "2026-03-02T05:00:00Z", "2026-03-03T05:00:00Z"],
    ["2024-02-29", "2024-02-29T05:00:00Z", "2024-03-01T05:00:00Z"],
    ["2026-12-31", "2026-12-31T05:00:00Z", "2027-01-01T05:00:00Z"],
    ["1992-05-02", "1992-05-02T05:00:00Z", "1992-05-03T05:00:00Z"],
    ["1992-05-03", "1992-05-03T05:00:00Z", "1992-05-04T04:00:00Z"],
    ["1993-02-06", "1993-02-06T04:00:00Z", "1993-02-07T05:00:00Z"],
  ])("%s is from %s to %s", (date, start, end) => {
    expect([startOfLocalDay(date), endOfLocalDay(date)]).toEqual([start, end]);
  });

  it("ends where the next one begins, and contains the instants with its date", () => {
    fc.assert(
      fc.property(settled, (ms) => {
        const date = localDateAt(ms);
        expect(endOfLocalDay(date)).toBe(startOfLocalDay(shift(date, 1)));
        expect(Date.parse(startOfLocalDay(date)) <= ms && ms < Date.parse(endOfLocalDay(date))).toBe(true);
      }),
    );
  });

  it("never ends after the last second that RFC 3339 can represent", () => {
    expect(endOfLocalDay("9999-12-31")).toBe("9999-12-31T23:59:59Z");
  });

  it.each(["2026-02-30", "2026-3-2", ""])("rejects %j", (text) => {
    expect(() => startOfLocalDay(text)).toThrow(RangeError);
  });
});

describe("instantMsOf", () => {
  it("is the instant with this local date and time", () => {
    fc.assert(
      fc.property(settled, (ms) => {
        const wholeSecond = Math.floor(ms / 1000) * 1000;
        const secondOfDay = (wholeSecond / 1000 - 5 * 3600) % 86_400;
        expect(instantMsOf(localDateAt(ms), secondOfDay)).toBe(wholeSecond);
      }),
    );
  });

  it.each([
    ["1992-05-03", 0, "1992-05-03T05:00:00Z"],
    ["1992-05-03", 30 * 60, "1992-05-03T05:00:00Z"],
    ["1992-05-03", 60 * 60, "1992-05-03T05:00:00Z"],
    ["1992-05-03", 61 * 60, "1992-05-03T05:01:00Z"],
    ["1993-02-06", 23 * 3600, "1993-02-07T03:00:00Z"],
    ["1993-02-06", 24 * 3600, "1993-02-07T05:00:00Z"],
    ["1900-01-01", 0, "1900-01-01T04:56:16Z"],
  ])("of %s, second %d is %s, as in the time zone database", (date, second, instant) => {
    expect(formatInstant(instantMsOf(date, second))).toBe(instant);
  });

  it.each(["1992-05-03", "1993-02-06", "2026-03-02"])("keeps the order of the local times of %s", (date) => {
    let before = instantMsOf(date, 0);
    for (let second = 600; second <= 86_400; second += 600) {
      const after = instantMsOf(date, second);
      expect(after).toBeGreaterThanOrEqual(before);
      before = after;
    }
  });
});

describe("formatInstant", () => {
  it("shows milliseconds only if there are any", () => {
    expect(formatInstant(Date.parse("2026-11-02T08:00:00-05:00"))).toBe("2026-11-02T13:00:00Z");
    expect(formatInstant(Date.parse("2026-11-02T08:00:00.120-05:00"))).toBe("2026-11-02T13:00:00.120Z");
  });
});

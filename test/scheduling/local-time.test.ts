import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countSlots, formatLocalTime, localWindow, parseLocalTime } from "../../src/scheduling/local-time.js";

describe("parseLocalTime", () => {
  it.each([
    ["00:00", 0],
    ["00:00:01", 1],
    ["08:30", 30_600],
    ["08:30:00", 30_600],
    ["23:59", 86_340],
    ["23:59:59", 86_399],
  ])("reads %s", (text, second) => {
    expect(parseLocalTime(text)).toBe(second);
  });

  it.each([
    "",
    "8:30",
    "08:3",
    "24:00",
    "24:00:00",
    "23:60",
    "23:59:60",
    "08.30",
    "08:30:00.5",
    "08:30Z",
    "08:30-05:00",
    " 08:30",
    "08:30\n",
    "T08:30",
    "-8:30",
    "٠٨:٣٠",
  ])("rejects %j", (text) => {
    expect(parseLocalTime(text)).toBeUndefined();
  });
});

describe("formatLocalTime", () => {
  it("formats each second of the day so that it parses to the same second", () => {
    for (let second = 0; second < 86_400; second++) {
      const text = formatLocalTime(second);
      if (!/^\d\d:\d\d:\d\d$/.test(text) || parseLocalTime(text) !== second) expect.fail(text);
    }
  });

  it.each([-1, 86_400, 0.5, Number.NaN])("rejects %d", (second) => {
    expect(() => formatLocalTime(second)).toThrow(RangeError);
  });
});

describe("localWindow", () => {
  it.each([
    ["08:00", "12:00", 28_800, 43_200],
    ["00:00", "00:00:01", 0, 1],
    ["08:00", "23:58:59", 28_800, 86_339],
    ["08:00", "23:59", 28_800, 86_400],
    ["08:00", "23:59:30", 28_800, 86_400],
    ["08:00", "23:59:59", 28_800, 86_400],
  ])("of %s to %s", (start, end, startSecond, endSecond) => {
    expect(localWindow(start, end)).toEqual({ startSecond, endSecond });
  });

  it("rejects text that is not a local time", () => {
    expect(() => localWindow("08:00", "24:00")).toThrow(RangeError);
    expect(() => localWindow("", "12:00")).toThrow(RangeError);
  });
});

describe("countSlots", () => {
  it.each([
    ["08:00", "12:00", 30, 8],
    ["08:00", "12:00", 50, 4],
    ["08:00", "08:30", 30, 1],
    ["08:00", "08:29:59", 30, 0],
    ["00:00", "23:59", 1440, 1],
    ["00:00", "23:58", 1440, 0],
    ["23:30", "23:59:59", 15, 2],
  ])("%s to %s has slots of %d min: %d", (start, end, minutes, count) => {
    expect(countSlots(localWindow(start, end), minutes)).toBe(count);
  });

  it("equals a count slot by slot", () => {
    const second = fc.integer({ min: 0, max: 86_400 });
    fc.assert(
      fc.property(second, second, fc.integer({ min: 1, max: 1440 }), (startSecond, endSecond, minutes) => {
        let laid = 0;
        for (let end = startSecond + minutes * 60; end <= endSecond; end += minutes * 60) laid += 1;
        expect(countSlots({ startSecond, endSecond }, minutes)).toBe(laid);
      }),
    );
  });
});

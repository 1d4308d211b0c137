import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { aRule, dates, monday, rules } from "./rules.js";
import { slotsByTheBook } from "./slot-oracle.js";
import { slotsOfRun } from "./slots-of-run.js";

describe("slotRunOn", () => {
  it("divides the window into slots, in UTC", () => {
    expect(slotsOfRun(aRule({ endsAtLocal: "09:30" }), monday)).toEqual([
      { startsAt: "2026-03-02T13:00:00Z", endsAt: "2026-03-02T13:30:00Z" },
      { startsAt: "2026-03-02T13:30:00Z", endsAt: "2026-03-02T14:00:00Z" },
      { startsAt: "2026-03-02T14:00:00Z", endsAt: "2026-03-02T14:30:00Z" },
    ]);
  });

  it("leaves a remainder unused that is shorter than a slot", () => {
    expect(starts({ slotDurationMinutes: 50, endsAtLocal: "09:39:59" }, monday)).toEqual(["2026-03-02T13:00:00Z"]);
    expect(starts({ slotDurationMinutes: 50, endsAtLocal: "09:40" }, monday)).toHaveLength(2);
    expect(starts({ endsAtLocal: "08:29" }, monday)).toEqual([]);
  });

  it.each(["23:59", "23:59:00", "23:59:59"])("treats an end of %s as the end of the day", (endsAtLocal) => {
    const slots = slotsOfRun(aRule({ startsAtLocal: "23:00", endsAtLocal }), monday);
    expect(slots.at(-1)).toEqual({ startsAt: "2026-03-03T04:30:00Z", endsAt: "2026-03-03T05:00:00Z" });
    const wholeDay = aRule({ startsAtLocal: "00:00", endsAtLocal, slotDurationMinutes: 1440 });
    expect(slotsOfRun(wholeDay, monday)).toEqual([
      { startsAt: "2026-03-02T05:00:00Z", endsAt: "2026-03-03T05:00:00Z" },
    ]);
  });

  it("follows the local time of Bogotá across months, years and leap days", () => {
    expect(starts({ endsAtLocal: "08:30" }, "2024-02-29")).toEqual(["2024-02-29T13:00:00Z"]);
    expect(starts({ startsAtLocal: "23:00", endsAtLocal: "23:30" }, "2026-12-31")).toEqual(["2027-01-01T04:00:00Z"]);
  });

  it("equals plain arithmetic five hours behind UTC", () => {
    fc.assert(
      fc.property(rules, dates, (rule, date) => {
        expect(slotsOfRun(rule, date)).toEqual(slotsByTheBook(rule, date));
      }),
      { numRuns: 300 },
    );
  });

  it("returns nothing after the last second that RFC 3339 can represent", () => {
    const slots = slotsOfRun(aRule({ startsAtLocal: "18:00", endsAtLocal: "23:59" }), "9999-12-31");
    expect(slots.map(({ endsAt }) => endsAt)).toEqual(["9999-12-31T23:30:00Z"]);
  });
});

describe("slotRunOn on a day with a clock change", () => {
  const wholeDay = { startsAtLocal: "00:00", endsAtLocal: "23:59", slotDurationMinutes: 90 };

  it.each([
    ["1992-05-03", 15, "1992-05-03T05:00:00Z"],
    ["1993-02-06", 16, "1993-02-06T04:00:00Z"],
  ])("%s has %d slots of full length", (date, count, first) => {
    const slots = slotsOfRun(aRule(wholeDay), date);
    expect(slots).toHaveLength(count);
    expect(slots[0]?.startsAt).toBe(first);
    for (const { startsAt, endsAt } of slots) expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(90 * 60_000);
  });

  it.each(["1992-05-03", "1993-02-06"])("adjoining windows share no instant of %s", (date) => {
    const times = ["00:00", "00:30", "01:00", "02:00", "12:00", "22:30", "23:30", "23:59"];
    const slots = times.slice(1).flatMap((endsAtLocal, i) => {
      return slotsOfRun(aRule({ startsAtLocal: times[i] ?? "", endsAtLocal, slotDurationMinutes: 10 }), date);
    });
    expect(slots.length).toBeGreaterThan(100);
    slots.slice(1).forEach(({ startsAt }, i) => expect(startsAt >= (slots[i]?.endsAt ?? "")).toBe(true));
  });

  it("a window that the clock change skips has no slots", () => {
    expect(starts({ startsAtLocal: "00:00", endsAtLocal: "01:00" }, "1992-05-03")).toEqual([]);
  });
});

function starts(changes: Partial<ProgramRuleAttributes>, date: string): string[] {
  return slotsOfRun(aRule(changes), date).map(({ startsAt }) => startsAt);
}

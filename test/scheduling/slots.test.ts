import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProgramRuleTerms } from "../../src/scheduling/program-rule-terms.js";
import { type SlotTimes, slotsOn, slotsOnOpenDate } from "../../src/scheduling/slots.js";
import { shift } from "./calendar-oracle.js";
import { aRule, dates, monday, rules } from "./rules.js";

const none = new Set<string>();

describe("slotsOnOpenDate", () => {
  it("cuts the window into slots, as UTC", () => {
    expect(slotsOnOpenDate(aRule({ endsAtLocal: "09:30" }), monday)).toEqual([
      { startsAt: "2026-03-02T13:00:00Z", endsAt: "2026-03-02T13:30:00Z" },
      { startsAt: "2026-03-02T13:30:00Z", endsAt: "2026-03-02T14:00:00Z" },
      { startsAt: "2026-03-02T14:00:00Z", endsAt: "2026-03-02T14:30:00Z" },
    ]);
  });

  it("leaves a rest unused that is shorter than a slot", () => {
    expect(starts({ slotDurationMinutes: 50, endsAtLocal: "09:39:59" }, monday)).toEqual(["2026-03-02T13:00:00Z"]);
    expect(starts({ slotDurationMinutes: 50, endsAtLocal: "09:40" }, monday)).toHaveLength(2);
    expect(starts({ endsAtLocal: "08:29" }, monday)).toEqual([]);
  });

  it.each(["23:59", "23:59:00", "23:59:59"])("takes an end of %s for the end of the day", (endsAtLocal) => {
    const slots = slotsOnOpenDate(aRule({ startsAtLocal: "23:00", endsAtLocal }), monday);
    expect(slots.at(-1)).toEqual({ startsAt: "2026-03-03T04:30:00Z", endsAt: "2026-03-03T05:00:00Z" });
    const wholeDay = aRule({ startsAtLocal: "00:00", endsAtLocal, slotDurationMinutes: 1440 });
    expect(slotsOnOpenDate(wholeDay, monday)).toEqual([
      { startsAt: "2026-03-02T05:00:00Z", endsAt: "2026-03-03T05:00:00Z" },
    ]);
  });

  it("stays on the wall clock of Bogotá across months, years and leap days", () => {
    expect(starts({ endsAtLocal: "08:30" }, "2024-02-29")).toEqual(["2024-02-29T13:00:00Z"]);
    expect(starts({ startsAtLocal: "23:00", endsAtLocal: "23:30" }, "2026-12-31")).toEqual(["2027-01-01T04:00:00Z"]);
  });

  it("says what plain arithmetic five hours behind UTC says", () => {
    fc.assert(
      fc.property(rules, dates, (rule, date) => {
        expect(slotsOnOpenDate(rule, date)).toEqual(layByTheBook(rule, date));
      }),
      { numRuns: 300 },
    );
  });

  it("offers nothing after the last second that RFC 3339 can say", () => {
    const slots = slotsOnOpenDate(aRule({ startsAtLocal: "18:00", endsAtLocal: "23:59" }), "9999-12-31");
    expect(slots.map(({ endsAt }) => endsAt)).toEqual(["9999-12-31T23:30:00Z"]);
  });
});

describe("slotsOnOpenDate on a day on which the clock changes", () => {
  const wholeDay = { startsAtLocal: "00:00", endsAtLocal: "23:59", slotDurationMinutes: 90 };

  it.each([
    ["1992-05-03", 15, "1992-05-03T05:00:00Z"],
    ["1993-02-06", 16, "1993-02-06T04:00:00Z"],
  ])("%s has %d slots of full length", (date, count, first) => {
    const slots = slotsOnOpenDate(aRule(wholeDay), date);
    expect(slots).toHaveLength(count);
    expect(slots[0]?.startsAt).toBe(first);
    for (const { startsAt, endsAt } of slots) expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(90 * 60_000);
  });

  it.each(["1992-05-03", "1993-02-06"])("windows that follow each other share no instant of %s", (date) => {
    const times = ["00:00", "00:30", "01:00", "02:00", "12:00", "22:30", "23:30", "23:59"];
    const slots = times.slice(1).flatMap((endsAtLocal, i) => {
      return slotsOnOpenDate(aRule({ startsAtLocal: times[i] ?? "", endsAtLocal, slotDurationMinutes: 10 }), date);
    });
    expect(slots.length).toBeGreaterThan(100);
    slots.slice(1).forEach(({ startsAt }, i) => expect(startsAt >= (slots[i]?.endsAt ?? "")).toBe(true));
  });

  it("a window that the change skips has no slots", () => {
    expect(starts({ startsAtLocal: "00:00", endsAtLocal: "01:00" }, "1992-05-03")).toEqual([]);
  });
});

describe("slotsOn", () => {
  it("gives the slots of an open date", () => {
    expect(slotsOn(aRule(), monday, none)).toEqual(slotsOnOpenDate(aRule(), monday));
    expect(slotsOn(aRule(), monday, none)).toHaveLength(8);
  });

  it.each([
    ["the weekday", aRule({ weekdays: [2] }), none],
    ["the validity", aRule({ validTo: "2026-03-01" }), none],
    ["the tenant's calendar", aRule(), new Set([monday])],
    ["the rule's own list", aRule({ holidayDates: [monday] }), none],
    ["being inactive", aRule({ active: false }), none],
  ])("gives none on a date closed by %s", (_, rule, holidays) => {
    expect(slotsOn(rule, monday, holidays)).toEqual([]);
  });
});

function starts(changes: Partial<ProgramRuleTerms>, date: string): string[] {
  return slotsOnOpenDate(aRule(changes), date).map(({ startsAt }) => startsAt);
}

function layByTheBook(rule: ProgramRuleTerms, date: string): SlotTimes[] {
  const slots: SlotTimes[] = [];
  const durationMs = rule.slotDurationMinutes * 60_000;
  const untilMidnight = rule.endsAtLocal.startsWith("23:59");
  const startMs = Date.parse(`${date}T${rule.startsAtLocal.slice(0, 5)}:00-05:00`);
  const end = untilMidnight ? `${shift(date, 1)}T00:00` : `${date}T${rule.endsAtLocal.slice(0, 5)}`;
  for (let ms = startMs; ms + durationMs <= Date.parse(`${end}:00-05:00`); ms += durationMs) {
    const [startsAt, endsAt] = [ms, ms + durationMs].map((at) => `${new Date(at).toISOString().slice(0, 19)}Z`);
    slots.push({ startsAt: startsAt ?? "", endsAt: endsAt ?? "" });
  }
  return slots;
}

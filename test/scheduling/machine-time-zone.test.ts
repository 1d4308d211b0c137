import { afterEach, describe, expect, it, vi } from "vitest";
import { aRule, monday } from "./rules.js";

const machineZone = process.env["TZ"];

afterEach(() => {
  setMachineZone(machineZone);
});

describe("the time zone of the machine", () => {
  it("does not affect the rules of time", async () => {
    const [utc, tokyo, bogota] = [
      await answersIn("UTC", 0),
      await answersIn("Asia/Tokyo", -540),
      await answersIn("America/Bogota", 300),
    ];
    expect(tokyo).toEqual(utc);
    expect(bogota).toEqual(utc);
    expect(utc.slots[0]).toEqual({ startsAt: "2026-03-02T13:00:00Z", count: 8 });
    expect(utc.today.slice(0, 3)).toEqual(["2026-03-01", "2026-03-02", "2026-03-02"]);
    expect(utc.overlaps).toEqual([true, false]);
  });
});

/** Returns the answers of modules that are loaded while the machine's clock is this many minutes behind UTC. */
async function answersIn(zone: string, minutesBehindUtc: number) {
  setMachineZone(zone);
  expect(new Date(Date.parse("2026-03-02T12:00:00Z")).getTimezoneOffset()).toBe(minutesBehindUtc);
  vi.resetModules();
  const [{ largestPlan }, { eligibilityValidUntil }, clock, date] = await Promise.all([
    import("../../src/scheduling/plan-size.js"),
    import("../../src/scheduling/eligibility-validity.js"),
    import("../../src/scheduling/local-clock.js"),
    import("../../src/scheduling/local-date.js"),
  ]);
  const [{ overlaps }, { openDates }, { slotRunOn }, { ruleProblems }] = await Promise.all([
    import("../../src/scheduling/overlap.js"),
    import("../../src/scheduling/recurrence.js"),
    import("../../src/scheduling/slots.js"),
    import("../../src/scheduling/rule-problems.js"),
  ]);
  const hours = Array.from({ length: 24 * 14 }, (_, i) => Date.parse("2026-03-02T04:00:00Z") + i * 3_600_000);
  const open = [...openDates(aRule(), "2026-02-20", "2026-04-10", new Set(["2026-03-23"]))];
  return {
    today: hours.map(clock.localDateAt),
    size: largestPlan([aRule()], monday),
    open,
    weekdays: open.map(date.weekdayOf),
    slots: [monday, ...open, "1992-05-03", "1993-02-06"].map((day) => slotRunOn(aRule(), day)),
    days: open.map((day) => [clock.startOfLocalDay(day), clock.endOfLocalDay(day)]),
    neighbours: open.map((day) => [date.addCalendarDays(day, 30), date.previousDate(day)]),
    validity: hours.map((ms) => eligibilityValidUntil(ms, "2026-03-08")),
    overlaps: [overlaps(aRule(), aRule()), overlaps(aRule({ validTo: "2026-03-01" }), aRule({ validFrom: monday }))],
    problems: ruleProblems(aRule({ validFrom: monday, validTo: "2026-03-01" })),
  };
}

function setMachineZone(zone: string | undefined): void {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
}

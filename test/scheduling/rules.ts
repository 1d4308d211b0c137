import * as fc from "fast-check";
import type { HolidayPolicy, ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { shift } from "./calendar-oracle.js";

/** 2026-03-02 is a Monday. The 400 years after it are a whole calendar cycle. */
export const monday = "2026-03-02";

export const policies: readonly HolidayPolicy[] = ["SKIP", "INCLUDE", "ONLY_EXCEPTIONS"];

/** Returns a valid rule: Monday to Friday, 08:00 to 12:00 in slots of half an hour, all of 2026. */
export function aRule(changes: Partial<ProgramRuleAttributes> = {}): ProgramRuleAttributes {
  return {
    active: true,
    dailyCapacity: 20,
    slotDurationMinutes: 30,
    startsAtLocal: "08:00:00",
    endsAtLocal: "12:00:00",
    recurrence: "WEEKLY",
    weekdays: [1, 2, 3, 4, 5],
    validFrom: "2026-01-01",
    validTo: "2026-12-31",
    holidayDates: [],
    holidayPolicy: "SKIP",
    ...changes,
  };
}

/** Dates in five weeks from {@link monday}. There are few, so that generated dates coincide. */
export const dates = fc.integer({ min: 0, max: 34 }).map((days) => shift(monday, days));

/** Local times in both notations, including the edges of the day. */
export const localTimes = fc.oneof(
  fc.constantFrom("00:00", "00:00:00", "23:58", "23:59", "23:59:59"),
  fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 })).map(([h, m]) => `${two(h)}:${two(m)}`),
);

/** Valid rules within five weeks. Windows can be short, and few dates may be open. */
export const rules: fc.Arbitrary<ProgramRuleAttributes> = fc
  .record({
    active: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
    times: fc.tuple(localTimes, localTimes).filter(([a, b]) => a.slice(0, 5) < b.slice(0, 5)),
    slotDurationMinutes: fc.constantFrom(1, 7, 20, 30, 45, 60, 1440),
    weekdays: fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
    validity: fc.tuple(dates, dates).map(([a, b]) => [a, b].toSorted()),
    holidayDates: fc.uniqueArray(dates, { maxLength: 20 }),
    holidayPolicy: fc.constantFrom(...policies),
  })
  .map(({ times: [startsAtLocal, endsAtLocal], validity: [validFrom = monday, validTo = monday], ...rest }) =>
    aRule({ ...rest, startsAtLocal, endsAtLocal, validFrom, validTo }),
  );

function two(number: number): string {
  return String(number).padStart(2, "0");
}

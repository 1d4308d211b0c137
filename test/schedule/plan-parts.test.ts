import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  differingSpan,
  gainingSpan,
  inputsWithin,
  nextPartOf,
  planWithin,
} from "../../src/services/schedule/plan-parts.js";
import type { ProgramPlan } from "../../src/services/schedule/plan-slots.js";
import { shareTestService, type TestService } from "../support/service.js";
import { day, mustCall, openClinic } from "./clinic.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

const staff = ["a", "b", "c", "d"].map((practitionerId) => ({ programId: "p", practitionerId }));
const run = { programId: "p", ruleId: "r", localDate: "2026-03-04", startsAt: "2026-03-04T13:00:00Z" };
const plan: ProgramPlan = {
  programIds: ["p"],
  from: "2026-03-04",
  through: "2026-03-31",
  practitionerId: undefined,
  staff,
  runs: [{ ...run, minutes: 30, count: 10 }],
  obstacles: {
    blocks: [],
    inactivePrograms: [],
    programsAtInactiveLocations: [],
    inactivePractitioners: [],
    holidays: [],
  },
};

describe("a part of a schedule on a date with more slots than one transaction adds", () => {
  test("has as many practitioners as fit, and ends the date with the last of them", () => {
    const first = nextPartOf(plan, 0, 20);
    expect(first.plan.staff).toEqual(staff.slice(0, 2));
    expect(first.progress).toEqual({ through: "2026-03-03", staff: 2 });
    const second = nextPartOf(plan, 2, 20);
    expect(second.plan.staff).toEqual(staff.slice(2));
    expect(second.progress).toEqual({ through: "2026-03-04", staff: 0 });
  });

  test("is the whole plan if its slots just fit", () => {
    expect(nextPartOf(plan, 0, 40).progress).toEqual({ through: "2026-03-31", staff: 0 });
    expect(nextPartOf(plan, 0, 39).progress).toEqual({ through: "2026-03-03", staff: 3 });
  });
});

describe("two plans of a program differ", () => {
  const at = (localDate: string, count = 10) => ({ ...run, localDate, minutes: 30, count });
  const daily = { ...plan, runs: [at("2026-03-04"), at("2026-03-11"), at("2026-03-18"), at("2026-03-25")] };
  const closed = { ruleId: "r", localDate: "2026-03-31" };

  test.each<[string, Partial<ProgramPlan>, string | undefined]>([
    ["on no date if their slots are the same", {}, undefined],
    ["on a date with other slots", { runs: daily.runs.with(1, at("2026-03-11", 9)) }, "2026-03-11 2026-03-11"],
    ["from the first date with other slots to the last", { runs: daily.runs.slice(1, 3) }, "2026-03-04 2026-03-25"],
    ["on a date with slots of another rule", { runs: [...daily.runs, at("2026-03-12")] }, "2026-03-12 2026-03-12"],
    [
      "on a date that a holiday closes",
      { obstacles: { ...plan.obstacles, holidays: [closed] } },
      "2026-03-31 2026-03-31",
    ],
    ["on every date if they have other practitioners", { staff: staff.slice(1) }, "2026-03-04 2026-03-31"],
    [
      "on every date if a practitioner is inactive",
      { obstacles: { ...plan.obstacles, inactivePractitioners: ["a"] } },
      "2026-03-04 2026-03-31",
    ],
  ])("%s", (_, changes, expected) => {
    const span = differingSpan(daily, { ...daily, ...changes });
    expect(span && `${span.from} ${span.through}`).toBe(expected);
  });
});

describe("a plan has slots on a date that an earlier one does not have:", () => {
  type Times = [startsAt: string, minutes: number, count: number];
  const onDay = (nth: number, [time, minutes, count]: Times) => {
    const localDate = `2026-03-1${nth}`;
    return { programId: "p", ruleId: "r", localDate, startsAt: `${localDate}T${time}:00Z`, minutes, count };
  };
  const of = (...times: Times[]): ProgramPlan => ({ ...plan, runs: times.map((each, nth) => onDay(nth, each)) });
  const before = of(["13:00", 30, 4], ["13:00", 30, 4]);

  test.each<[string, ProgramPlan, boolean]>([
    ["not if its slots are the same", before, false],
    ["not if it begins later", of(["13:00", 30, 4], ["13:30", 30, 3]), false],
    ["not if it ends earlier", of(["13:00", 30, 4], ["13:00", 30, 3]), false],
    ["not if a date has no slots any more", of(["13:00", 30, 4]), false],
    ["if it begins earlier", of(["13:00", 30, 4], ["12:30", 30, 5]), true],
    ["if it ends later", of(["13:00", 30, 4], ["13:00", 30, 5]), true],
    ["if it begins between two slots", of(["13:00", 30, 4], ["13:10", 30, 3]), true],
    ["if its slots are shorter", of(["13:00", 30, 4], ["13:00", 20, 4]), true],
    ["if it has other practitioners", { ...before, staff: staff.slice(1) }, true],
  ])("%s", (_, after, expected) => {
    expect(gainingSpan(before, after) !== undefined).toBe(expected);
  });
});

test("a range of dates has the slots and the holidays of these dates, the first and the last included", () => {
  const dates = ["2026-03-10", "2026-03-11", "2026-03-12", "2026-03-13"];
  const runs = dates.map((localDate) => ({ ...run, localDate, minutes: 30, count: 10 }));
  const span = { from: "2026-03-11", through: "2026-03-12" };
  const part = planWithin({ ...plan, runs }, span);
  expect(part).toEqual({ ...plan, ...span, runs: runs.slice(1, 3) });
  const inputs = {
    programId: "p",
    span: { from: plan.from, through: plan.through },
    rules: [],
    practitionerIds: [],
    holidays: new Set(dates),
    standing: undefined,
    booked: [],
    inactive: [],
    blocks: [],
  };
  expect(inputsWithin(inputs, span)).toEqual({ ...inputs, span, holidays: new Set(dates.slice(1, 3)) });
});

test("a holiday before today or after the horizon leaves offered options valid, unlike one between", async () => {
  const clinic = await openClinic(service, { rule: { holidayPolicy: "SKIP" } });
  const generationAfter = async (days: number) => {
    await mustCall(clinic, "CreateHoliday", { date: day(clinic, days), name: "Fiesta", active: true });
    const [row] = await service.query(`SELECT generation::int FROM programs WHERE id = '${clinic.programId}'`);
    return Number(row?.["generation"]);
  };
  const [past, far, near] = [await generationAfter(-3), await generationAfter(91), await generationAfter(90)];
  expect(far).toBe(past);
  expect(near).toBe(far + 1);
});

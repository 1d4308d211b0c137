import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nextPartOf } from "../../src/services/schedule/plan-parts.js";
import { startTestService, type TestService } from "../support/service.js";
import { day, mustCall, openClinic } from "./clinic.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("a part of a schedule on a date with more slots than one transaction adds", () => {
  const staff = ["a", "b", "c", "d"].map((practitionerId) => ({ programId: "p", practitionerId }));
  const run = { programId: "p", ruleId: "r", localDate: "2026-03-04", startsAt: "2026-03-04T13:00:00Z" };
  const plan = {
    programIds: ["p"] as const,
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

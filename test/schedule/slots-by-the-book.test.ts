import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { extendSchedules } from "../../src/jobs/extend-schedules.js";
import type { Database } from "../../src/postgres/database.js";
import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { ruleProblems } from "../../src/scheduling/rule-problems.js";
import * as fixtures from "../contract/fixtures.js";
import { shift } from "../scheduling/calendar-oracle.js";
import { monday, rules } from "../scheduling/rules.js";
import { testNow } from "../support/clock.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import { call, mustCall } from "./clinic.js";
import { scheduleDifferences } from "./schedule-differences.js";

const RUNS = Number(process.env["SLOT_RUNS"] || 12);

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl, 2);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

/**
 * Rules that began a week ago and last up to five weeks, without slots of one minute, which would be many thousands.
 */
const nearRules = rules
  .filter((rule) => ruleProblems(rule).length === 0 && rule.slotDurationMinutes > 1)
  .map((rule) => moveRule(rule));
const nearDates = fc.integer({ min: 0, max: 27 }).map((days) => shift(monday, days + 7));

/** Compares the slots made by the service, partly in TypeScript and partly in SQL, with an independent oracle. */
test("the slots in the database equal those that the oracle computes from rules, practitioners and holidays", async () => {
  let slots = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(nearRules, { minLength: 1, maxLength: 3 }),
      nearRules,
      fc.uniqueArray(nearDates, { maxLength: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (first, changed, holidays, staff) => {
        const clinic = { service, as: { tenantId: randomUUID() } };
        const programId = await fixtures.createProgram(service, {}, clinic.as);
        const practitionerIds = await Promise.all(
          Array.from({ length: staff }, () => fixtures.practitioner.create(service, clinic.as)),
        );
        const serviceIds = [await fixtures.healthcareService.create(service, clinic.as)];
        await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds, expectedVersion: 1 });
        await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds, expectedVersion: 1 });
        const ruleIds: string[] = [];
        for (const rule of first) ruleIds.push(...(await addRule(clinic, programId, rule)));
        await extend(clinic.as.tenantId);
        for (const date of holidays.map(moved)) {
          await mustCall(clinic, "CreateHoliday", { date, name: "Fiesta", active: true });
        }
        expect(await scheduleDifferences(service)).toEqual([]);
        const update = { programId, ruleId: `${ruleIds[0]}`, ...changed, holidayDates: [...changed.holidayDates] };
        await call(clinic, "UpdateProgramRule", { ...update, weekdays: [...changed.weekdays], expectedVersion: 1 });
        await extend(clinic.as.tenantId);
        expect(await scheduleDifferences(service)).toEqual([]);
        slots += (await service.query(`SELECT 1 FROM slots WHERE program_id = '${programId}'`)).length;
        await service.query(`DELETE FROM slots; UPDATE programs SET materialized_through = NULL`);
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
  expect(slots).toBeGreaterThan(100);
}, 120_000);

/** Creates a rule, unless it overlaps an earlier one. Returns the ids created. */
async function addRule(
  clinic: Parameters<typeof call>[0],
  programId: string,
  rule: ProgramRuleAttributes,
): Promise<string[]> {
  const attributes = { ...rule, weekdays: [...rule.weekdays], holidayDates: [...rule.holidayDates] };
  const { body } = await call(clinic, "CreateProgramRule", { programId, ...attributes });
  const created = body["programRule"] as { ruleId: string } | undefined;
  return created === undefined ? [] : [created.ruleId];
}

async function extend(tenantId: string): Promise<void> {
  const logger = { info: () => undefined, warn: () => undefined };
  const ports = { database, now: service.now, maxOpenSlots: 1_000_000, logger };
  while ((await extendSchedules(tenantId, ports)).kind === "ADDED");
}

function moveRule(rule: ProgramRuleAttributes): ProgramRuleAttributes {
  const [validFrom, validTo] = [moved(rule.validFrom), moved(rule.validTo)];
  return { ...rule, validFrom, validTo, holidayDates: rule.holidayDates.map(moved) };
}

/** Moves a generated date to the weeks around today. */
function moved(date: string): string {
  const daysOn = (Date.parse(date) - Date.parse(monday)) / 86_400_000;
  return shift(new Date(testNow()).toISOString().slice(0, 10), daysOn - 7);
}

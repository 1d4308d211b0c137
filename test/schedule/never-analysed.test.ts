import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import { insertScheduleBlock, type ScheduleBlockRecord } from "../../src/postgres/tables/schedule/schedule-blocks.js";
import { horizonFrom } from "../../src/scheduling/horizon.js";
import { readScheduleInputs, remakeProgram } from "../../src/services/schedule/materialize.js";
import type { PlanChanges, PlanInputs } from "../../src/services/schedule/plan-slots.js";
import { remakeSpan } from "../../src/services/schedule/remake-span.js";
import * as fixtures from "../contract/fixtures.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { call, day, mustCall } from "./clinic.js";
import { type LargeClinic, openLargeClinic } from "./large-schedule.js";
import { mostRowsOf } from "./recorded-work.js";

/**
 * Numbers of slots in tenants without PostgreSQL statistics. Two other tenants have statistics, from which PostgreSQL
 * estimates one row for any other tenant. Autovacuum is off on the test server. `npm run test:faults` uses larger
 * sizes.
 */
const SIZES = (process.env["NEVER_ANALYSED_SLOTS"] || "8000").split(",").map(Number);
const NEIGHBOUR_SLOTS = 8_000;
/**
 * A statement reads each slot and builds lists from it. A join of the lists by a nested loop would read thousands of
 * rows per slot.
 */
const ROWS_PER_SLOT = 4;
/**
 * Each occupied slot under a block is compared with each block of the practitioner. A practitioner has at most 500
 * blocks.
 */
const BLOCKS = 60;
const FILL_TIMEOUT_MS = 120_000 + Math.max(...SIZES);

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  for (let i = 0; i < 2; i++) await openLargeClinic(service, NEIGHBOUR_SLOTS);
  await service.query("ANALYZE");
}, FILL_TIMEOUT_MS);

afterAll(() => service.close());

/** Operations that must finish within the service's statement timeout. Each test opens a clinic of its own. */
const OPERATIONS: readonly [string, (clinic: LargeClinic) => Promise<RestAnswer>][] = [
  ["a preview of a rule", (clinic) => call(clinic, "PreviewRuleChange", { ...ruleOf(clinic), startsAtLocal: "00:01" })],
  ["a rule that begins later", (clinic) => changeRule(clinic, { startsAtLocal: "00:01" })],
  ["a rule that changes no times", (clinic) => changeRule(clinic, { dailyCapacity: 9_999 })],
  ["a rule that is deactivated", (clinic) => changeRule(clinic, { active: false })],
  ["another practitioner", async (clinic) => replace(clinic, [await fixtures.practitioner.create(service, clinic.as)])],
  ["no practitioner", (clinic) => replace(clinic, [])],
  [
    "a program that moves to another location",
    async (clinic) => changeProgram(clinic, { locationId: await fixtures.location.create(service, clinic.as) }),
  ],
  ["a program that is deactivated", (clinic) => changeProgram(clinic, { active: false })],
  ["a block of a practitioner, which is cancelled", blockAndCancel],
  ["a block of a location with many other blocks", blockLocation],
  ["a holiday", (clinic) => call(clinic, "CreateHoliday", { date: day(clinic, 5), name: "Fiesta", active: true })],
  [
    "a practitioner who is deactivated",
    (clinic) =>
      call(clinic, "UpdatePractitioner", {
        practitionerId: clinic.practitionerIds[0] ?? "",
        active: false,
        expectedVersion: 1,
      }),
  ],
  [
    "a location that is deactivated",
    ({ locationId, ...clinic }) => call(clinic, "UpdateLocation", { locationId, active: false, expectedVersion: 1 }),
  ],
  [
    "the erasure of a patient with many appointments",
    ({ formerPatientId, ...clinic }) =>
      call(clinic, "ErasePatient", { patientId: formerPatientId, expectedVersion: 1, reason: "Lo pide la persona" }),
  ],
];

describe.each(SIZES)("in a tenant of %i slots without statistics,", (slots) => {
  test.each(OPERATIONS)(
    "%s finishes in time",
    async (name, operation) => {
      const clinic = await openLargeClinic(service, slots);
      const began = performance.now();
      const { status, text } = await operation(clinic);
      console.info(`| ${slots} | ${name} | ${Math.round(performance.now() - began)} ms |`);
      expect({ status, text }).toMatchObject({ status: 200 });
    },
    FILL_TIMEOUT_MS,
  );
});

/** Changes of the inputs from which a schedule is materialized. */
const CHANGES: readonly [string, (inputs: PlanInputs) => PlanChanges][] = [
  [
    "a rule that begins later",
    ({ rules }) => ({ rules: rules.map((rule) => ({ ...rule, startsAtLocal: "00:01:00" })) }),
  ],
  ["a rule that is deactivated", ({ rules }) => ({ rules: rules.map((rule) => ({ ...rule, active: false })) })],
  ["no practitioners", () => ({ practitionerIds: [] })],
];

describe("in a tenant without statistics, no plan node reads more than a few rows per slot", () => {
  test.each(CHANGES)("when a schedule is remade for %s", async (_, changesOf) => {
    const clinic = await openLargeClinic(service, NEIGHBOUR_SLOTS);
    await expectFewRows(clinic, async (transaction) => {
      const schedule = await readScheduleInputs(transaction, clinic.programId, service.now());
      await remakeProgram(transaction, schedule, changesOf(schedule.inputs), service.now());
    });
  });

  test("and none reads a slot when the schedule stays the same", async () => {
    const clinic = await openLargeClinic(service, NEIGHBOUR_SLOTS);
    const most = await mostRowsOf(service, clinic.tenantId, async (transaction) => {
      const schedule = await readScheduleInputs(transaction, clinic.programId, service.now());
      const rules = schedule.inputs.rules.map((rule) => ({ ...rule, dailyCapacity: 9_999 }));
      await remakeProgram(transaction, schedule, { rules }, service.now());
    });
    expect(most).toBeLessThan(NEIGHBOUR_SLOTS / 10);
  });

  test("when a block and a holiday are added to many blocks", async () => {
    const clinic = await openLargeClinic(service, NEIGHBOUR_SLOTS);
    await service.query(blocksOf(clinic));
    const around = { programIds: [clinic.programId], maxOpenSlots: NEIGHBOUR_SLOTS };
    const span = horizonFrom(service.now());
    await expectFewRows(clinic, (transaction) => {
      const block = wholeBlock(clinic);
      insertScheduleBlock(transaction, block);
      return remakeSpan(transaction, { ...around, span, changes: { block } }, service.now());
    });
    const date = day(clinic, 5);
    const holiday = { span: { from: date, through: date }, changes: { holiday: { date, isHoliday: true } } };
    await expectFewRows(clinic, (transaction) => remakeSpan(transaction, { ...around, ...holiday }, service.now()));
  });
});

async function expectFewRows(clinic: LargeClinic, work: (transaction: Transaction) => Promise<unknown>) {
  expect(await mostRowsOf(service, clinic.tenantId, work)).toBeLessThan(ROWS_PER_SLOT * NEIGHBOUR_SLOTS);
}

function ruleOf({ programId, ruleId }: LargeClinic): JsonObject {
  return { programId, ruleId };
}

function changeRule(clinic: LargeClinic, changes: JsonObject): Promise<RestAnswer> {
  return call(clinic, "UpdateProgramRule", { ...ruleOf(clinic), ...changes, expectedVersion: 1 });
}

function changeProgram({ programId, ...clinic }: LargeClinic, changes: JsonObject): Promise<RestAnswer> {
  return call(clinic, "UpdateProgram", { programId, ...changes, expectedVersion: 1 });
}

function replace({ programId, ...clinic }: LargeClinic, practitionerIds: string[]): Promise<RestAnswer> {
  return call(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds, expectedVersion: 2 });
}

async function blockAndCancel(clinic: LargeClinic): Promise<RestAnswer> {
  const target = { practitionerId: clinic.practitionerIds[0] ?? "", kind: "VACATION" };
  const { scheduleBlock } = await mustCall(clinic, "CreateScheduleBlock", { ...target, ...timesOf(clinic, 3, 33) });
  const { scheduleBlockId } = scheduleBlock as { scheduleBlockId: string };
  return call(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
}

async function blockLocation(clinic: LargeClinic): Promise<RestAnswer> {
  await service.query(blocksOf(clinic));
  const target = { locationId: clinic.locationId, kind: "CLOSED_ROOM" };
  return call(clinic, "CreateScheduleBlock", { ...target, ...timesOf(clinic, 1, 95) });
}

function timesOf(clinic: LargeClinic, first: number, last: number) {
  return { startsAt: `${day(clinic, first)}T12:00:00Z`, endsAt: `${day(clinic, last)}T12:00:00Z` };
}

/** Creates blocks of an hour for the first practitioner, one every three hours. */
function blocksOf({ tenantId, practitionerIds }: LargeClinic): string {
  return `INSERT INTO schedule_blocks (tenant_id, id, practitioner_id, starts_at, ends_at, kind, version, created_at, updated_at)
    SELECT '${tenantId}', gen_random_uuid(), '${practitionerIds[0]}', start, start + interval '1 hour', 'MEETING', 1, now(),
      now() FROM generate_series(1, ${BLOCKS}) AS n,
      LATERAL (SELECT '${new Date(service.now()).toISOString()}'::timestamptz + n * interval '3 hours' AS start) AS s`;
}

function wholeBlock(clinic: LargeClinic): ScheduleBlockRecord {
  const { startsAt, endsAt } = timesOf(clinic, 1, 95);
  const at = new Date(service.now());
  return {
    id: randomUUID(),
    organizationId: undefined,
    companyId: undefined,
    practitionerId: undefined,
    locationId: clinic.locationId,
    programId: undefined,
    startsAt: new Date(startsAt),
    endsAt: new Date(endsAt),
    kind: "CLOSED_ROOM",
    note: undefined,
    cancelledAt: undefined,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type ExtensionPorts, extendSchedules } from "../../src/jobs/extend-schedules.js";
import type { Database } from "../../src/postgres/database.js";
import { findDueTenants } from "../../src/postgres/tables/schedule/due-programs.js";
import type { Turn } from "../../src/services/schedule/extend-next-program.js";
import { MAX_SLOTS_IN_PART } from "../../src/services/schedule/plan-parts.js";
import { createPatient, createProgram, createRule, healthcareService, practitioner } from "../contract/fixtures.js";
import {
  bookFirst,
  type Clinic,
  type ClinicChanges,
  day,
  everyMorning,
  mustCall,
  openClinic,
} from "../schedule/clinic.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { execute } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

const DAY_MS = 86_400_000;

let service: TestService;
let database: Database;
let url: string;

beforeAll(async () => {
  service = await startTestService();
  url = service.databaseUrl;
  database = openServiceDatabase(url);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

beforeEach(() => service.query("DELETE FROM slots; UPDATE programs SET materialized_through = NULL"));

/** The calls that complete a program, by what they add. */
const completing: Readonly<Record<string, (clinic: Incomplete) => Promise<unknown>>> = {
  "a rule": ({ programId, as }) => createRule(service, programId, everyMorning, as),
  practitioners: ({ programId, practitionerIds, as }) =>
    mustCall({ service, as }, "ReplaceProgramPractitioners", { programId, practitionerIds, expectedVersion: 1 }),
  services: ({ programId, serviceIds, as }) =>
    mustCall({ service, as }, "ReplaceProgramServices", { programId, serviceIds, expectedVersion: 1 }),
};

describe("extendSchedules", () => {
  test("extends a schedule to the horizon and keeps version and generation", async () => {
    const clinic = await openOwn();
    const before = await stateOf(clinic);
    service.advance(2 * DAY_MS);
    expect(await stateOf(clinic)).toMatchObject({ materializedThrough: day(clinic, 88), pending: true });
    expect(await extend(clinic)).toMatchObject({ kind: "ADDED", programId: clinic.programId });
    const { openSlotCount, ...state } = await stateOf(clinic);
    expect(state).toMatchObject({ generation: before["generation"], materializedThrough: day(clinic, 90) });
    expect(state).toMatchObject({ pending: false });
    expect(await lastDateOf(clinic)).toBe(day(clinic, 90));
    expect(Number(openSlotCount)).toBeGreaterThanOrEqual(90 * 8);
    const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
    expect(program).toMatchObject({ version: 1 });
    expect(await extend(clinic)).toEqual({ kind: "DONE" });
  });

  test("adds slots once when several processes run it concurrently", async () => {
    const clinic = await openOwn();
    service.advance(DAY_MS);
    await Promise.all([1, 2, 3].map(() => extend(clinic)));
    const days = await service.query(
      `SELECT count(*)::int AS slots FROM slots WHERE program_id = '${clinic.programId}' AND local_date = '${day(clinic, 90)}'`,
    );
    expect(days).toEqual([{ slots: 8 }]);
  });

  test("deletes only unbooked slots that are more than a week old", async () => {
    const clinic = await openOwn();
    const patientId = await createPatient(service, {}, clinic.as);
    const { startsAt } = await bookFirst(clinic, patientId, { dateFrom: day(clinic, 1), dateTo: day(clinic, 1) });
    service.advance(9 * DAY_MS);
    await extend(clinic);
    const old = await service.query(
      `SELECT starts_at FROM slots WHERE program_id = '${clinic.programId}' AND local_date <= '${day(clinic, -8)}'`,
    );
    expect(old).toEqual([{ starts_at: new Date(startsAt) }]);
  });

  test("keeps a free slot until it is more than a week old", async () => {
    for (const [ms, isKept] of [
      [0, true],
      [1, false],
    ] as const) {
      const clinic = await openOwn();
      const first = new Date(`${day(clinic, 1)}T08:00:00-05:00`);
      await extend(clinic, { now: () => first.getTime() + 7 * DAY_MS + ms });
      const kept = await service.query(
        `SELECT starts_at FROM slots WHERE program_id = '${clinic.programId}' AND starts_at = '${first.toISOString()}'`,
      );
      expect(kept).toEqual(isKept ? [{ starts_at: first }] : []);
    }
  });

  test("adds slots in parts of limited size, even within one date", async () => {
    const rule = { startsAtLocal: "00:00:00", endsAtLocal: "23:59:59", slotDurationMinutes: 1 };
    const clinic = await openOwn({ staff: 7, materialized: false, rule: { ...rule, ...onlyOn(2) } });
    const slotsAfter = async () => {
      expect(await extend(clinic)).toMatchObject({ kind: "ADDED" });
      return Number((await stateOf(clinic))["openSlotCount"]);
    };
    expect(MAX_SLOTS_IN_PART).toBe(4_000);
    expect([await slotsAfter(), await slotsAfter(), await slotsAfter()]).toEqual([2_880, 5_760, 8_640]);
    expect(await stateOf(clinic)).toMatchObject({ pending: true, materializedThrough: day(clinic, 1) });
    expect(await slotsAfter()).toBe(7 * 1_440);
    expect(await stateOf(clinic)).toMatchObject({ pending: true, materializedThrough: day(clinic, 2) });
    expect(await slotsAfter()).toBe(7 * 1_440);
    expect(await extend(clinic)).toEqual({ kind: "DONE" });
    expect(await stateOf(clinic)).toMatchObject({ pending: false });
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("restarts a partly created date when the practitioners are replaced", async () => {
    const rule = { startsAtLocal: "00:00:00", endsAtLocal: "23:59:59", slotDurationMinutes: 1 };
    const clinic = await openOwn({ staff: 5, materialized: false, rule: { ...rule, ...onlyOn(2) } });
    const { programId, practitionerIds, as } = clinic;
    await extend(clinic);
    const others = [...(await createPractitioners(3, as)), ...practitionerIds.slice(1)];
    const replacement = { programId, practitionerIds: others, expectedVersion: 2 };
    await mustCall(clinic, "ReplaceProgramPractitioners", replacement);
    while ((await extend(clinic)).kind === "ADDED");
    expect(await stateOf(clinic)).toMatchObject({ pending: false, openSlotCount: 7 * 1_440 });
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("extends the tenant's shortest schedule first", async () => {
    const ahead = await openOwn();
    const { as } = ahead;
    const behind = await openClinic(service, { as, materialized: false });
    service.advance(DAY_MS);
    expect([await extend(ahead), await extend(ahead), await extend(ahead)]).toEqual([
      expect.objectContaining({ programId: behind.programId }),
      expect.objectContaining({ programId: ahead.programId }),
      { kind: "DONE" },
    ]);
  });

  test.each(["programs", "calendars"])("returns BUSY without waiting if the %s are locked", async (table) => {
    const clinic = await openOwn();
    service.advance(DAY_MS);
    const holder = new Client(url);
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${clinic.as.tenantId}'`);
    await holder.query(`SELECT FROM ${table} FOR UPDATE`);
    expect(await extend(clinic)).toEqual({ kind: "BUSY" });
    await holder.query("ROLLBACK");
    expect(await extend(clinic)).toMatchObject({ kind: "ADDED" });
  });

  test.each<[string, (clinic: Clinic, active: boolean, expectedVersion: number) => Promise<unknown>]>([
    [
      "program",
      (clinic, active, expectedVersion) =>
        mustCall(clinic, "UpdateProgram", { programId: clinic.programId, active, expectedVersion }),
    ],
    [
      "location",
      async (clinic, active, expectedVersion) => {
        const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
        const { locationId } = program as { locationId: string };
        return mustCall(clinic, "UpdateLocation", { locationId, active, expectedVersion });
      },
    ],
  ])("stops when the %s is deactivated, and is scheduled when it is active again", async (_, set) => {
    const clinic = await openOwn({ staff: 12, materialized: false });
    expect(await extend(clinic)).toMatchObject({ kind: "ADDED" });
    await set(clinic, false, 1);
    const slots = await countSlots(clinic);
    expect(await extend(clinic)).toEqual({ kind: "DONE" });
    expect(await countSlots(clinic)).toBe(slots);
    await service.query("DELETE FROM graphile_worker._private_jobs");
    await set(clinic, true, 2);
    expect(await jobsOf(clinic)).toBe(1);
    expect(await extend(clinic)).toMatchObject({ kind: "ADDED" });
    expect(await countSlots(clinic)).toBeGreaterThan(slots);
  });

  test("does not change the schedule of an inactive program", async () => {
    const clinic = await openOwn();
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgram", { programId, active: false, expectedVersion: 1 });
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, slotDurationMinutes: 20, expectedVersion: 1 });
    expect(await extend(clinic)).toEqual({ kind: "DONE" });
    await mustCall(clinic, "UpdateProgram", { programId, active: true, expectedVersion: 2 });
    expect(await extend(clinic)).toEqual({ kind: "DONE" });
    expect(await stateOf(clinic)).toMatchObject({ pending: false });
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("stops at the tenant's limit of open slots and logs a warning", async () => {
    const clinic = await openOwn({ staff: 12, materialized: false });
    const warnings: object[] = [];
    const logger = { info: () => undefined, warn: (facts: object) => void warnings.push(facts) };
    const limits = { maxOpenSlots: 5_000, logger };
    let turn = await extend(clinic, limits);
    while (turn.kind === "ADDED") turn = await extend(clinic, limits);
    const openSlots = await countSlots(clinic);
    expect(turn).toEqual({ kind: "FULL", openSlots: 5_000 });
    expect(openSlots).toBeLessThan(5_000 + 8);
    expect(warnings).toEqual([{ tenant: clinic.as.tenantId, openSlots: 5_000, maxOpenSlots: 5_000 }]);
  });
});

test.each([
  ["the tenant", "UpdateTenantSettings", () => ({})],
  ["a program", "UpdateProgramWindow", ({ programId }: Clinic) => ({ programId })],
])("further dates are requested by a longer horizon of %s only", async (_, operation, idIn) => {
  const clinic = await openOwn();
  for (const [index, horizonDays] of [30, 31, 31].entries()) {
    await service.query("DELETE FROM graphile_worker._private_jobs");
    await mustCall(clinic, operation, { ...idIn(clinic), horizonDays, expectedVersion: index + 1 });
    expect(await jobsOf(clinic)).toBe([0, 1, 0][index]);
  }
});

describe("the schedule of a program is requested by the call that completes it:", () => {
  test.each(Object.keys(completing))("%s", async (last) => {
    const clinic = await openIncomplete();
    const { programId } = clinic;
    for (const [name, move] of Object.entries(completing)) if (name !== last) await move(clinic);
    const wanted = `SELECT 1 FROM programs WHERE id = '${programId}' AND materialized_through IS NOT NULL`;
    expect(await service.query(wanted)).toEqual([]);
    expect(await extend(clinic)).toEqual({ kind: "DONE" });
    await service.query("DELETE FROM graphile_worker._private_jobs");
    await completing[last]?.(clinic);
    expect(await service.query(wanted)).toHaveLength(1);
    expect(await jobsOf(clinic)).toBe(1);
    expect(await stateOf(clinic)).toEqual({
      programId,
      generation: 1,
      openSlotCount: 0,
      bookedSlotCount: 0,
      displacedSlotCount: 0,
      pending: true,
    });
    expect(await extend(clinic)).toMatchObject({ kind: "ADDED", programId });
    expect(await stateOf(clinic)).toMatchObject({ pending: false, materializedThrough: day(clinic, 90) });
  });
});

describe("findDueTenants", () => {
  test("returns each tenant once that has an active program with a schedule shorter than the horizon", async () => {
    const clinics = await Promise.all([openOwn(), openOwn(), openIncomplete()]);
    const [first, second] = clinics;
    await openClinic(service, { as: first.as });
    expect(await findDueTenants(database, day(first, 0))).toEqual([]);
    const due = await findDueTenants(database, day(first, 1));
    expect(due.toSorted()).toEqual([first, second].map(({ as }) => `${as.tenantId}`).toSorted());
    await mustCall(second, "UpdateProgram", { programId: second.programId, active: false, expectedVersion: 1 });
    expect(await findDueTenants(database, day(first, 1))).toEqual([first.as.tenantId]);
  });

  test("can read only programs that need a schedule, and change nothing", async () => {
    const clinic = await openOwn();
    await openIncomplete();
    const asJob = (statement: string) => execute(url, "SET cupo.jobs = 'on'", statement);
    expect(await asJob("SELECT id FROM programs")).toEqual([{ id: clinic.programId }]);
    expect(await asJob("UPDATE programs SET generation = 9 RETURNING 1")).toEqual([]);
    await expect(asJob("DELETE FROM programs")).rejects.toMatchObject({ code: "42501" });
    for (const table of ["slots", "patients", "audit_events"])
      expect(await asJob(`SELECT 1 FROM ${table}`)).toEqual([]);
    expect(await execute(url, "SELECT id FROM programs")).toEqual([]);
  });
});

function extend({ as }: Pick<Clinic, "as">, ports: Partial<ExtensionPorts> = {}): Promise<Turn> {
  const logger = { info: () => undefined, warn: () => undefined };
  return extendSchedules(`${as.tenantId}`, { database, now: service.now, maxOpenSlots: 1_000_000, logger, ...ports });
}

/** Opens a clinic in a new tenant with this many practitioners. It is open every morning up to the horizon. */
async function openOwn({ staff = 1, ...changes }: ClinicChanges & { readonly staff?: number } = {}): Promise<Clinic> {
  const as = { tenantId: randomUUID() };
  const rule = { ...everyMorning, ...changes.rule };
  return openClinic(service, { ...changes, as, rule, practitionerIds: await createPractitioners(staff, as) });
}

/** A program in a new tenant, and the resources that complete it. */
interface Incomplete extends Pick<Clinic, "service" | "as" | "programId"> {
  readonly practitionerIds: string[];
  readonly serviceIds: string[];
}

async function openIncomplete(): Promise<Incomplete> {
  const as = { tenantId: randomUUID() };
  const programId = await createProgram(service, {}, as);
  const serviceIds = [await healthcareService.create(service, as)];
  return { service, as, programId, practitionerIds: await createPractitioners(1, as), serviceIds };
}

function createPractitioners(count: number, as: TokenFor): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => practitioner.create(service, as)));
}

/** Returns the attributes of a rule for a single date. */
function onlyOn(days: number) {
  const date = day({ service }, days);
  return { validFrom: date, validTo: date };
}

async function countSlots({ programId }: Clinic): Promise<number> {
  return (await service.query(`SELECT 1 FROM slots WHERE program_id = '${programId}'`)).length;
}

/** Returns the number of jobs that extend the schedules of the clinic's tenant. */
async function jobsOf({ as }: Pick<Clinic, "as">): Promise<number> {
  const jobs = `SELECT 1 FROM graphile_worker.jobs WHERE key = 'extend_schedule:${as.tenantId}'`;
  return (await service.query(jobs)).length;
}

async function stateOf(clinic: Pick<Clinic, "service" | "as" | "programId">): Promise<JsonObject> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  return materialization as JsonObject;
}

async function lastDateOf({ programId }: Clinic): Promise<unknown> {
  const [row] = await service.query(
    `SELECT max(local_date)::text AS last FROM slots WHERE program_id = '${programId}'`,
  );
  return row?.["last"];
}

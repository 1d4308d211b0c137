import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ExtensionPorts, extendSchedule } from "../../src/jobs/extend-schedule.js";
import { purgeOptionTokens } from "../../src/jobs/purges.js";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { findDuePrograms } from "../../src/postgres/tables/schedule/due-programs.js";
import { createPatient } from "../contract/makers.js";
import { bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { execute } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";

const DAY_MS = 86_400_000;
const { signal } = new AbortController();

let service: TestService;
let database: Database;
let url: string;

beforeAll(async () => {
  service = await startTestService();
  url = service.proxy.url;
  database = openDatabase({
    url,
    maxConnections: 4,
    acquireTimeoutMs: 2_000,
    queryTimeoutMs: 15_000,
    onIdleError: () => undefined,
  });
});

afterAll(async () => {
  await database.close();
  await service.close();
});

beforeEach(() => service.query("UPDATE programs SET materialized_through = NULL"));

describe("extending a schedule", () => {
  test("makes it up to the horizon, and leaves version and generation as they are", async () => {
    const clinic = await openOwn();
    const before = await stateOf(clinic);
    service.advance(2 * DAY_MS);
    expect(await stateOf(clinic)).toMatchObject({ materializedThrough: day(clinic, 88), pending: true });
    await extend(clinic);
    const { openSlotCount, ...state } = await stateOf(clinic);
    expect(state).toMatchObject({ generation: before["generation"], materializedThrough: day(clinic, 90) });
    expect(state).toMatchObject({ pending: false });
    expect(await lastDateOf(clinic)).toBe(day(clinic, 90));
    expect(Number(openSlotCount)).toBeGreaterThanOrEqual(90 * 8);
    const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
    expect(program).toMatchObject({ version: 1 });
  });

  test("leaves one alone that was never made", async () => {
    const clinic = await openOwn({ materialized: false });
    await extend(clinic);
    expect(await lastDateOf(clinic)).toBeNull();
  });

  test("is done once by several at the same time", async () => {
    const clinic = await openOwn();
    service.advance(DAY_MS);
    await Promise.all([1, 2, 3].map(() => extend(clinic)));
    const days = await service.query(
      `SELECT count(*)::int AS slots FROM slots WHERE program_id = '${clinic.programId}' AND local_date = '${day(clinic, 90)}'`,
    );
    expect(days).toEqual([{ slots: 8 }]);
  });

  test("ends behind the dates that it is at, and says that it did not come to the end", async () => {
    const clinic = await openOwn();
    service.advance(DAY_MS);
    await expect(extend(clinic, AbortSignal.abort())).rejects.toThrow("abort");
    expect(await lastDateOf(clinic)).toBe(day(clinic, 89));
  });

  test("forgets slots of more than a week ago that nobody booked, and no others", async () => {
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
});

describe("finding the schedules that are due", () => {
  test("finds those of every tenant that end before the horizon", async () => {
    const clinics = await Promise.all([openOwn(), openOwn(), openOwn({ materialized: false })]);
    const made = clinics.slice(0, 2).map(({ programId, as }) => ({ id: programId, tenantId: as.tenantId }));
    const clinic = clinics[0];
    expect(await findDuePrograms(database, day(clinic, 90))).toEqual([]);
    const due = await findDuePrograms(database, day(clinic, 91));
    expect(due).toHaveLength(2);
    expect(due).toEqual(expect.arrayContaining(made));
  });

  test("may see programs with a schedule, and change nothing", async () => {
    const clinic = await openOwn();
    await openOwn({ materialized: false });
    const asJob = (statement: string) => execute(url, "SET cupo.jobs = 'on'", statement);
    expect(await asJob("SELECT id FROM programs")).toEqual([{ id: clinic.programId }]);
    expect(await asJob("UPDATE programs SET generation = 9 RETURNING 1")).toEqual([]);
    await expect(asJob("DELETE FROM programs")).rejects.toMatchObject({ code: "42501" });
    for (const table of ["slots", "patients", "audit_events"])
      expect(await asJob(`SELECT 1 FROM ${table}`)).toEqual([]);
    expect(await execute(url, "SELECT id FROM programs")).toEqual([]);
  });
});

describe("purging used tokens", () => {
  test("forgets those of every tenant that expired more than a day ago, in batches", async () => {
    await addTokens("25 hours", 1_500);
    await addTokens("23 hours", 2);
    await addTokens("-10 minutes", 3);
    expect(await purgeOptionTokens(database, signal)).toBe(1_500);
    expect(await service.query("SELECT count(*)::int AS left FROM consumed_option_tokens")).toEqual([{ left: 6 }]);
    const asPurge = (statement: string) => execute(url, "SET cupo.purge_retention = '24 hours'", statement);
    expect(await asPurge("SELECT 1 FROM consumed_option_tokens")).toEqual([]);
    expect(await asPurge("DELETE FROM consumed_option_tokens RETURNING 1")).toEqual([]);
  });
});

function extend({ programId, as }: Clinic, until: AbortSignal = signal): Promise<void> {
  const ports: ExtensionPorts = { database, now: service.now, signal: until, logger: { info: () => undefined } };
  return extendSchedule({ tenantId: as.tenantId ?? "", programId }, ports);
}

function openOwn(changes: { readonly materialized?: boolean } = {}): Promise<Clinic> {
  return openClinic(service, { ...changes, as: { tenantId: randomUUID() } });
}

async function stateOf(clinic: Clinic): Promise<JsonObject> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  return materialization as JsonObject;
}

async function lastDateOf({ programId }: Clinic): Promise<unknown> {
  const [row] = await service.query(
    `SELECT max(local_date)::text AS last FROM slots WHERE program_id = '${programId}'`,
  );
  return row?.["last"];
}

async function addTokens(age: string, count: number): Promise<void> {
  await service.query(
    `INSERT INTO consumed_option_tokens
     SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '${age}' FROM generate_series(1, ${count})`,
  );
}

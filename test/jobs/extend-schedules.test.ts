import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type ExtensionPorts, extendSchedules } from "../../src/jobs/extend-schedules.js";
import { purgeOptionTokens } from "../../src/jobs/purge-option-tokens.js";
import { scheduleUpkeep } from "../../src/jobs/schedule-upkeep.js";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { execute } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
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

beforeEach(async () => {
  await service.query("UPDATE programs SET materialized_through = NULL");
  await service.query("DELETE FROM consumed_option_tokens");
});

describe("extending schedules", () => {
  test("makes those of every tenant up to the horizon, and leaves version and generation as they are", async () => {
    const clinics = await Promise.all([openOwn(), openOwn()]);
    const before = await Promise.all(clinics.map(stateOf));
    service.advance(2 * DAY_MS);
    expect(await extendSchedules(ports())).toBe(2);
    for (const [i, clinic] of clinics.entries()) {
      const { openSlotCount, ...state } = await stateOf(clinic);
      expect(state).toMatchObject({ generation: before[i]?.["generation"], materializedThrough: day(clinic, 90) });
      expect(await lastDateOf(clinic)).toBe(day(clinic, 90));
      expect(Number(openSlotCount)).toBeGreaterThanOrEqual(90 * 8);
      const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
      expect(program).toMatchObject({ version: 1 });
    }
    expect(await extendSchedules(ports())).toBe(0);
  });

  test("leaves a schedule alone that was never made", async () => {
    const clinic = await openOwn({ materialized: false });
    service.advance(DAY_MS);
    expect(await extendSchedules(ports())).toBe(0);
    expect(await lastDateOf(clinic)).toBeNull();
  });

  test("is done once by several at the same time", async () => {
    const clinics = [await openOwn(), await openOwn()];
    service.advance(DAY_MS);
    const extended = await Promise.all([1, 2, 3].map(() => extendSchedules(ports())));
    expect(extended.reduce((sum, count) => sum + count)).toBe(2);
    for (const clinic of clinics) expect(await lastDateOf(clinic)).toBe(day(clinic, 90));
  });

  test("reports a program that it cannot extend, does the others, and comes back to it", async () => {
    const [bad, good] = [await openOwn(), await openOwn()];
    service.advance(DAY_MS);
    await service.query(
      `ALTER TABLE slots ADD CONSTRAINT refused CHECK (program_id <> '${bad.programId}' OR local_date < '${day(bad, 90)}')`,
    );
    const reported: unknown[] = [];
    expect(await extendSchedules({ ...ports(), onError: (error) => void reported.push(error) })).toBe(1);
    expect(reported).toEqual([expect.objectContaining({ constraint: "refused" })]);
    expect([await lastDateOf(bad), await lastDateOf(good)]).toEqual([day(bad, 89), day(good, 90)]);
    await service.query("ALTER TABLE slots DROP CONSTRAINT refused");
    expect(await extendSchedules(ports())).toBe(1);
  });

  test("ends behind the program that it is at", async () => {
    await openOwn();
    service.advance(DAY_MS);
    expect(await extendSchedules({ ...ports(), signal: AbortSignal.abort() })).toBe(0);
  });

  test("may see programs with a schedule, and change nothing", async () => {
    const clinic = await openOwn();
    await openOwn({ materialized: false });
    const asJob = (statement: string) => execute(url, "SET cupo.jobs = 'on'", statement);
    expect(await asJob("SELECT id FROM programs")).toEqual([{ id: clinic.programId }]);
    expect(await asJob("UPDATE programs SET generation = 9 RETURNING 1")).toEqual([]);
    expect(await asJob("DELETE FROM programs RETURNING 1")).toEqual([]);
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
    expect(await service.query("SELECT count(*)::int AS left FROM consumed_option_tokens")).toEqual([{ left: 5 }]);
    const asPurge = (statement: string) => execute(url, "SET cupo.purge = 'on'", statement);
    expect(await asPurge("SELECT 1 FROM consumed_option_tokens")).toEqual([]);
    expect(await asPurge("DELETE FROM consumed_option_tokens RETURNING 1")).toEqual([]);
  });
});

describe("the upkeep", () => {
  test("runs at once and every hour until it is stopped, which waits for it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const clinic = await openOwn();
      service.advance(DAY_MS);
      await addTokens("2 days", 1);
      const stop = scheduleUpkeep({ database, now: service.now, onError: failTest });
      await vi.waitFor(async () => expect(await lastDateOf(clinic)).toBe(day(clinic, 90)));
      await vi.waitFor(async () => expect(await service.query("SELECT 1 FROM consumed_option_tokens")).toEqual([]));
      service.advance(DAY_MS);
      vi.advanceTimersByTime(HOUR_MS);
      await vi.waitFor(async () => expect(await lastDateOf(clinic)).toBe(day(clinic, 90)));
      service.advance(DAY_MS);
      vi.advanceTimersByTime(HOUR_MS);
      await stop();
      expect(database.pool.idleCount).toBe(database.pool.totalCount);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("reports what fails and goes on", async () => {
    const reported: unknown[] = [];
    const away = {
      ...database,
      pool: { connect: () => Promise.reject(new Error("away")) } as unknown as Database["pool"],
    };
    const stop = scheduleUpkeep({ database: away, now: service.now, onError: (error) => void reported.push(error) });
    await vi.waitFor(() => expect(reported).toHaveLength(2));
    await stop();
  });
});

function ports(): ExtensionPorts {
  return { database, now: service.now, signal, onError: failTest };
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

function failTest(error: unknown): never {
  throw error;
}

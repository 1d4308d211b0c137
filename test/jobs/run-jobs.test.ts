import type { JsonObject } from "@bufbuild/protobuf";
import type { Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { runJobs } from "../../src/jobs/run-jobs.js";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { MAX_SLOTS_AT_ONCE } from "../../src/services/schedule/materialize.js";
import * as makers from "../contract/makers.js";
import { type Clinic, day, everyMorning, materialize, mustCall, openClinic } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";

const DAY_MS = 86_400_000;
const WITHIN = { timeout: 20_000, interval: 50 };

let service: TestService;
let database: Database;
let queuePool: Pool;
let reported: unknown[];

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

beforeEach(() => {
  reported = [];
  const { url } = service.proxy;
  database = openDatabase({
    url,
    maxConnections: 4,
    acquireTimeoutMs: 2_000,
    queryTimeoutMs: 15_000,
    onIdleError: () => undefined,
  });
  queuePool = openJobQueuePool({ url, onIdleError: () => undefined });
});

test("extends at the start what is behind the horizon", async () => {
  const clinics = [await openClinic(service), await openClinic(service)];
  service.advance(DAY_MS);
  start();
  for (const clinic of clinics) await vi.waitFor(() => expectComplete(clinic), WITHIN);
});

test("makes what a request leaves of a schedule that is too large for one transaction, in parts", async () => {
  const practitionerIds = await Promise.all(Array.from({ length: 60 }, () => makers.practitioner.create(service, {})));
  const slotsADay = 60 * 8;
  const clinic = await openClinic(service, { practitionerIds, materialized: false, rule: everyMorning });
  const first = await materialize(clinic);
  expect(first).toMatchObject({ pending: true });
  expect(first["openSlotCount"]).toBeGreaterThan(MAX_SLOTS_AT_ONCE - slotsADay);
  expect(first["openSlotCount"]).toBeLessThanOrEqual(MAX_SLOTS_AT_ONCE);
  start();
  await vi.waitFor(() => expectComplete(clinic), WITHIN);
  const { openSlotCount } = await stateOf(clinic);
  expect(openSlotCount).toBeGreaterThanOrEqual(90 * slotsADay);
});

test("purges what is past its retention", async () => {
  const addToken =
    "INSERT INTO consumed_option_tokens SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '2 days'";
  await service.query(addToken);
  start();
  await service.query("SELECT graphile_worker.add_job('purge')");
  const left = () => service.query("SELECT 1 FROM consumed_option_tokens");
  await vi.waitFor(async () => expect(await left()).toEqual([]), WITHIN);
});

test("reports a database that is away, and goes on when it is back", async () => {
  const clinic = await openClinic(service);
  service.advance(DAY_MS);
  service.proxy.setDown(true);
  onTestFinished(() => service.proxy.setDown(false));
  start();
  await vi.waitFor(() => expect(reported).not.toEqual([]), WITHIN);
  service.proxy.setDown(false);
  await vi.waitFor(() => expectComplete(clinic), WITHIN);
});

test("gives every connection back when it is stopped", async () => {
  const stop = start();
  await vi.waitFor(() => expect(queuePool.totalCount).toBeGreaterThan(0), WITHIN);
  await stop();
  expect(queuePool.idleCount).toBe(queuePool.totalCount);
  expect(database.pool.idleCount).toBe(database.pool.totalCount);
});

/** Starts the jobs, and ends them and their connections with the test. */
function start(): () => Promise<void> {
  const logger = pino({ level: "silent" });
  const onError = (error: unknown) => void reported.push(error);
  const stop = runJobs({ database, queuePool, now: service.now, logger, onError, restartAfterMs: 100 });
  onTestFinished(async () => {
    await stop();
    await queuePool.end();
    await database.close();
  });
  return stop;
}

async function stateOf({ programId, ...clinic }: Clinic): Promise<JsonObject> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId });
  return materialization as JsonObject;
}

async function expectComplete(clinic: Clinic): Promise<void> {
  expect(await stateOf(clinic)).toMatchObject({ materializedThrough: day(clinic, 90), pending: false });
}

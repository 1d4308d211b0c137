import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Client, type Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { runJobs } from "../../src/jobs/run-jobs.js";
import type { Database } from "../../src/postgres/database.js";
import { openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { MAX_SLOTS_IN_PART } from "../../src/services/schedule/plan-parts.js";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, day, everyMorning, materialize, mustCall, openClinic } from "../schedule/clinic.js";
import { eventually, patience } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A staff whose slots for three months need five transactions. */
const LARGE_STAFF = 30;

let service: TestService;
let database: Database;
let queuePool: Pool;
let reported: unknown[];
let logged: Record<string, unknown>[];

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => service.close());

beforeEach(async () => {
  await service.query("UPDATE programs SET active = false; DELETE FROM graphile_worker._private_jobs");
  reported = [];
  logged = [];
  const { url } = service.proxy;
  database = openServiceDatabase(url);
  queuePool = openJobQueuePool({ url, maxConnections: 3, onIdleError: () => undefined });
});

test("extends short schedules at the start", async () => {
  const clinics = [await openClinic(service), await openClinic(service)];
  service.advance(DAY_MS);
  start();
  for (const clinic of clinics) await vi.waitFor(() => expectComplete(clinic), patience);
});

test("continues a schedule that a request has created in part, in several transactions", async () => {
  const practitionerIds = await Promise.all(
    Array.from({ length: LARGE_STAFF }, () => fixtures.practitioner.create(service, {})),
  );
  const slotsADay = LARGE_STAFF * 8;
  const clinic = await openClinic(service, { practitionerIds, materialized: false, rule: everyMorning });
  service.advance(firstSlotOf(clinic, 1) - HOUR_MS - service.now());
  const first = await materialize(clinic);
  expect(first).toMatchObject({ pending: true });
  expect(first["openSlotCount"]).toBeGreaterThan(MAX_SLOTS_IN_PART - 2 * slotsADay);
  expect(first["openSlotCount"]).toBeLessThanOrEqual(MAX_SLOTS_IN_PART);
  start();
  await vi.waitFor(() => expectComplete(clinic), patience);
  const { openSlotCount } = await stateOf(clinic);
  expect(openSlotCount).toBe(91 * slotsADay);
});

test("creates the schedule of a complete program without a request", async () => {
  const clinic = await openClinic(service, { materialized: false });
  start();
  await vi.waitFor(() => expectComplete(clinic), patience);
});

test("alternates between tenants: a small schedule does not wait for a large one", async () => {
  const practitionerIds = await Promise.all(
    Array.from({ length: LARGE_STAFF }, () => fixtures.practitioner.create(service, {})),
  );
  const large = await openClinic(service, { practitionerIds, materialized: false, rule: everyMorning });
  const small = await openClinic(service, { as: { tenantId: randomUUID() }, materialized: false });
  start();
  for (const clinic of [large, small]) await vi.waitFor(() => expectComplete(clinic), patience);
  const programs = logged.filter(({ through }) => through !== undefined).map(({ program }) => program);
  expect(programs.filter((id) => id === large.programId).length).toBeGreaterThan(4);
  expect(programs.indexOf(small.programId)).toBeLessThan(3);
});

test("continues as soon as a locked program is released, even if the database's clock is a day behind", async () => {
  const ahead = vi.spyOn(Date, "now").mockImplementation(() => performance.timeOrigin + performance.now() + DAY_MS);
  onTestFinished(() => ahead.mockRestore());
  const clinic = await openClinic(service, { materialized: false });
  const holder = new Client(service.proxy.url);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${service.tenantId}'`);
  await holder.query(`SELECT FROM programs WHERE id = '${clinic.programId}' FOR UPDATE`);
  start();
  const isWaiting = "SELECT 1 FROM graphile_worker.jobs WHERE key LIKE 'extend_schedule:%' AND run_at > now()";
  await vi.waitFor(async () => expect(await service.query(isWaiting)).toHaveLength(1), patience);
  await holder.query("ROLLBACK");
  await vi.waitFor(() => expectComplete(clinic), patience);
});

test("purges expired rows", async () => {
  const addToken =
    "INSERT INTO consumed_option_tokens SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '2 days'";
  await service.query(addToken);
  start();
  await service.query("SELECT graphile_worker.add_job('purge')");
  const left = () => service.query("SELECT 1 FROM consumed_option_tokens");
  await vi.waitFor(async () => expect(await left()).toEqual([]), patience);
});

test("creates partitions in advance", async () => {
  start();
  await service.query("SELECT graphile_worker.add_job('tend_partitions')");
  const made = () => service.query("SELECT name FROM cupo_partitions('audit_events')");
  await vi.waitFor(async () => expect(await made()).toHaveLength(4), patience);
});

test("reports an unreachable database and continues when it is back", async () => {
  const clinic = await openClinic(service);
  service.advance(DAY_MS);
  service.proxy.setDown(true);
  onTestFinished(() => service.proxy.setDown(false));
  start();
  await vi.waitFor(() => expect(reported).not.toEqual([]), patience);
  service.proxy.setDown(false);
  await vi.waitFor(() => expectComplete(clinic), patience);
});

test("stops everything if the start fails, and starts again", async () => {
  const clinic = await openClinic(service);
  service.advance(DAY_MS);
  const rename = (from: string, to: string) =>
    service.query(`DO $$ BEGIN
      EXECUTE format('ALTER ROUTINE %s RENAME TO ${to}', 'graphile_worker.${from}'::regproc::regprocedure); END $$`);
  await rename("add_job", "add_job_away");
  start();
  await vi.waitFor(() => expect(reported.length).toBeGreaterThan(queuePool.options.max), patience);
  await rename("add_job_away", "add_job");
  await vi.waitFor(() => expectComplete(clinic), patience);
  const listening = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
  await vi.waitFor(async () => expect(await service.query(listening)).toHaveLength(1), patience);
});

test("returns every connection to its pool when it is stopped", async () => {
  const stop = start();
  await vi.waitFor(() => expect(queuePool.totalCount).toBeGreaterThan(0), patience);
  await stop();
  for (const pool of [queuePool, database.pool]) await eventually(() => pool.idleCount === pool.totalCount);
});

/** Returns the start of a day's first slot, in milliseconds since the epoch. */
function firstSlotOf(clinic: Clinic, days: number): number {
  return Date.parse(`${day(clinic, days)}T08:00:00-05:00`);
}

/** Starts the jobs. The end of the test stops them and closes their connections. */
function start(): () => Promise<void> {
  const logger = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const onError = (error: unknown) => void reported.push(error);
  const stop = runJobs({
    database,
    queuePool,
    now: service.now,
    maxOpenSlots: 1_000_000,
    noShowGraceMinutes: 15,
    logger,
    onError,
    restartAfterMs: 100,
  });
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

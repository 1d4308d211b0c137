import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/postgres/database.js";
import { breakerOf, openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { probeServer } from "../../src/postgres/reachability/tcp-probe.js";
import { eventually } from "../support/eventually.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { persist } from "./persist.js";

const NEVER_MS = 3_600_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ WAIT_SECONDS: "2" }, { isProxied: true });
});

afterEach(() => service.proxy.silence(undefined));

afterAll(() => service.close());

test("running and queued calls get 503 when the network drops all bytes, and succeed when it recovers", async () => {
  const send = newRequest();
  await eventually(async () => (await newRequest()()).status === 201);
  service.proxy.silence("ALL");
  for (const answer of [await send(), await send()]) {
    expectProblem(answer, 503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }
  await eventually(() => warnings("database unreachable") === 1);
  service.proxy.silence(undefined);
  await eventually(() => warnings("the database responds again") === 1);
  const done = await persist(send);
  expect(done.status).toBe(201);
  expect(done.headers.get("idempotent-replayed")).toBeNull();
});

test("a statement that waits for a lock does not time out, because the server answers the probes", async () => {
  let probes = 0;
  const probe = (...question: Parameters<typeof probeServer>) => probeServer(...question).finally(() => (probes += 1));
  const [database, holder] = [openPatiently({ probe }), openPatiently({})];
  try {
    await holder.pool.query("SELECT pg_advisory_lock(7)");
    const waiting = database.pool.query("SELECT pg_advisory_lock(7)");
    await eventually(() => probes >= 3);
    await holder.pool.query("SELECT pg_advisory_unlock(7)");
    expect((await waiting).rowCount).toBe(1);
  } finally {
    await Promise.all([database.close(), holder.close()]);
  }
});

test("the job queue does not wait forever for a lost answer", async () => {
  let isReachable = true;
  const database = openPatiently({ probe: async () => isReachable });
  const url = service.proxy.url;
  const jobs = openJobQueuePool({ url, maxConnections: 1, onIdleError: () => undefined });
  database.whenUnreachable(breakerOf(jobs));
  try {
    await Promise.all([jobs.query("SELECT 1"), database.pool.query("SELECT 1")]);
    service.proxy.silence("ALL");
    isReachable = false;
    const [job, call] = await Promise.allSettled([jobs.query("SELECT 1"), database.pool.query("SELECT 1")]);
    expect([job.status, call.status]).toEqual(["rejected", "rejected"]);
    service.proxy.silence(undefined);
    expect((await jobs.query("SELECT 1")).rowCount).toBe(1);
  } finally {
    await Promise.all([jobs.end(), database.close()]);
  }
});

/** Opens one connection through the proxy. Only the detection of an unreachable database can end its waits. */
function openPatiently(reachability: NonNullable<DatabaseOptions["reachability"]>): Database {
  return openDatabase({
    url: service.proxy.url,
    maxConnections: 1,
    acquireTimeoutMs: NEVER_MS,
    queryTimeoutMs: NEVER_MS,
    onIdleError: () => undefined,
    reachability,
  });
}

function warnings(text: string): number {
  return service.log.filter(({ msg }) => String(msg).startsWith(text)).length;
}

/** Returns a function that sends the same registration each time. */
function newRequest(): () => Promise<RestAnswer> {
  const headers = { "idempotency-key": randomUUID() };
  const body = registration();
  return () => service.request("POST", "/patients", { headers, body });
}

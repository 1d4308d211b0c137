import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/postgres/database.js";
import { breakerOf, openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { knock } from "../../src/postgres/silence/knock.js";
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

test("calls over connections that are open, and those behind them, are 503 when the network swallows everything, and served when it does not any more", async () => {
  const send = newRequest();
  await eventually(async () => (await newRequest()()).status === 201);
  service.proxy.silence("ALL");
  for (const answer of [await send(), await send()]) {
    expectProblem(answer, 503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }
  await eventually(() => warnings("nothing is heard of the database") === 1);
  service.proxy.silence(undefined);
  await eventually(() => warnings("the database is heard again") === 1);
  const done = await persist(send);
  expect(done.status).toBe(201);
  expect(done.headers.get("idempotent-replayed")).toBeNull();
});

test("a statement that waits for a lock is waited for, because who knocks is answered", async () => {
  let knocks = 0;
  const isHeard = (...question: Parameters<typeof knock>) => knock(...question).finally(() => (knocks += 1));
  const [database, holder] = [openPatiently({ isHeard }), openPatiently({})];
  try {
    await holder.pool.query("SELECT pg_advisory_lock(7)");
    const waiting = database.pool.query("SELECT pg_advisory_lock(7)");
    await eventually(() => knocks >= 3);
    await holder.pool.query("SELECT pg_advisory_unlock(7)");
    expect((await waiting).rowCount).toBe(1);
  } finally {
    await Promise.all([database.close(), holder.close()]);
  }
});

test("the job queue does not wait for ever for an answer that was swallowed", async () => {
  let isHeard = true;
  const database = openPatiently({ isHeard: async () => isHeard });
  const url = service.proxy.url;
  const jobs = openJobQueuePool({ url, maxConnections: 1, onIdleError: () => undefined });
  database.whenSilent(breakerOf(jobs));
  try {
    await Promise.all([jobs.query("SELECT 1"), database.pool.query("SELECT 1")]);
    service.proxy.silence("ALL");
    isHeard = false;
    const [job, call] = await Promise.allSettled([jobs.query("SELECT 1"), database.pool.query("SELECT 1")]);
    expect([job.status, call.status]).toEqual(["rejected", "rejected"]);
    service.proxy.silence(undefined);
    expect((await jobs.query("SELECT 1")).rowCount).toBe(1);
  } finally {
    await Promise.all([jobs.end(), database.close()]);
  }
});

/** One connection through the proxy, of which nothing but the watch for silence would ever lose patience. */
function openPatiently(silence: NonNullable<DatabaseOptions["silence"]>): Database {
  return openDatabase({
    url: service.proxy.url,
    maxConnections: 1,
    acquireTimeoutMs: NEVER_MS,
    queryTimeoutMs: NEVER_MS,
    onIdleError: () => undefined,
    silence,
  });
}

function warnings(text: string): number {
  return service.log.filter(({ msg }) => String(msg).startsWith(text)).length;
}

/** A registration that is the same each time it is sent. */
function newRequest(): () => Promise<RestAnswer> {
  const headers = { "idempotency-key": randomUUID() };
  const body = registration();
  return () => service.request("POST", "/patients", { headers, body });
}

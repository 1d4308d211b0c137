import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type JobQueuePool, openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";

const LONG_MS = 600_000;

let database: TestDatabase;
let proxy: PostgresProxy;
let pool: JobQueuePool;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
});

afterAll(async () => {
  await proxy.close();
  await database.drop();
});

beforeEach(() => {
  pool = openJobQueuePool({ url: proxy.url, maxConnections: 1, onIdleError: () => undefined });
});

afterEach(async () => {
  vi.useRealTimers();
  proxy.silence(undefined);
  await pool.end();
});

test("a connection in use is waited for, however long its job takes", async () => {
  const job = await pool.connect();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const waiting = pool.connect();
  await vi.advanceTimersByTimeAsync(LONG_MS);
  vi.useRealTimers();
  job.release();
  const next = await waiting;
  expect((await next.query("SELECT 1")).rowCount).toBe(1);
  next.release();
});

test("an attempt to connect that gets no answer is given up", async () => {
  proxy.silence("ALL");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const refused = expect(pool.connect()).rejects.toThrow("timeout expired");
  await vi.advanceTimersByTimeAsync(LONG_MS);
  await refused;
});

import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { runJobs } from "../../src/jobs/run-jobs.js";
import { openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { patience } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => service.close());

const EXPIRED =
  "INSERT INTO consumed_option_tokens SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '2 days'";

/** Returns a row if jobs were added and none is left. */
const BEGUN = `SELECT 1 WHERE NOT EXISTS (SELECT FROM graphile_worker._private_jobs)
  AND pg_sequence_last_value(pg_get_serial_sequence('graphile_worker._private_jobs', 'id')::regclass) IS NOT NULL`;

test("a cron tick during an outage of the database stops nothing, and the next tick runs", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2020-03-09T09:09:59Z") });
  onTestFinished(() => void vi.useRealTimers());
  const { reported, looks } = start();
  await waitAt("2020-03-09T09:09:59Z", async () => {
    expect(looks()).toBe(1);
    expect(await service.query(BEGUN)).toHaveLength(1);
  });
  service.proxy.setDown(true);
  onTestFinished(() => service.proxy.setDown(false));
  await vi.waitFor(() => expect(reported).toContainEqual(expect.stringMatching(/Cron hit an error/)), patience);
  await service.query(EXPIRED);
  service.proxy.setDown(false);
  const seen = looks();
  await waitAt("2020-03-09T09:19:59Z", () => expect(looks()).toBeGreaterThan(seen));
  const left = () => service.query("SELECT 1 FROM consumed_option_tokens");
  await vi.waitFor(async () => expect(await left()).toEqual([]), patience);
});

/** Waits for a condition while the clock stands still. */
function waitAt(instant: string, isSo: () => unknown): Promise<void> {
  return vi.waitFor(async () => {
    vi.setSystemTime(instant);
    await isSo();
  }, patience);
}

/** Starts the jobs. Returns the reported errors and the number of successful queries of the timetable. */
function start() {
  const { url } = service.proxy;
  const database = openServiceDatabase(url);
  const queuePool = openJobQueuePool({ url, maxConnections: 3, onIdleError: () => undefined });
  const query = vi.spyOn(queuePool, "query");
  const reported: string[] = [];
  const stop = runJobs({
    database,
    queuePool,
    now: service.now,
    maxOpenSlots: 1_000_000,
    noShowGraceMinutes: 15,
    logger: pino({ level: "silent" }),
    onError: (error) => void reported.push(String(error)),
    restartAfterMs: 100,
  });
  onTestFinished(async () => {
    await stop();
    await queuePool.end();
    await database.close();
  });
  const looks = () =>
    query.mock.calls.filter(
      ([text], at) =>
        JSON.stringify(text).includes("_private_known_crontabs as known_crontabs") &&
        query.mock.settledResults[at]?.type === "fulfilled",
    ).length;
  return { reported, looks };
}

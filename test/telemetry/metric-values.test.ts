import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Meters, openMeters } from "../../src/telemetry/metrics/open-meters.js";
import { createPoolMetrics } from "../../src/telemetry/metrics/pool-metrics.js";
import { measureProcess } from "../../src/telemetry/metrics/process-metrics.js";
import { createRequestMetrics } from "../../src/telemetry/metrics/request-metrics.js";
import { createServiceMetrics } from "../../src/telemetry/metrics/service-metrics.js";
import { describeProcess } from "../../src/telemetry/resource.js";
import { parseMetrics } from "./metrics-page.js";

let meters: Meters;

beforeEach(async () => {
  meters = await openMeters(undefined, describeProcess());
});

afterEach(async () => {
  vi.restoreAllMocks();
  await meters.close();
});

test("a pool has its connections by state, its limit and its waiting requests", async () => {
  const { watch } = createPoolMetrics(meters.meter);
  watch("calls", { totalCount: 7, idleCount: 2, waitingCount: 3, options: { max: 10 } });
  watch("jobs", { totalCount: 1, idleCount: 1, waitingCount: 0, options: { max: 4 } });
  const { sum } = await page();
  const ofPool = (name: string, metric: string, state = {}) =>
    sum(`db_client_connection_${metric}`, { db_client_connection_pool_name: name, ...state });
  const used = { db_client_connection_state: "used" };
  const idle = { db_client_connection_state: "idle" };
  expect([ofPool("calls", "count", used), ofPool("calls", "count", idle)]).toEqual([5, 2]);
  expect([ofPool("jobs", "count", used), ofPool("jobs", "count", idle)]).toEqual([0, 1]);
  expect([ofPool("calls", "max"), ofPool("jobs", "max")]).toEqual([10, 4]);
  expect([ofPool("calls", "pending_requests"), ofPool("jobs", "pending_requests")]).toEqual([3, 0]);
});

test("each wait for a connection has its duration, and only one that got none is a timeout", async () => {
  const { acquired } = createPoolMetrics(meters.meter);
  acquired(500, true);
  acquired(1_500, false);
  const { sum } = await page();
  expect(sum("db_client_connection_wait_time_seconds_count")).toBe(2);
  expect(sum("db_client_connection_wait_time_seconds_sum")).toBe(2);
  expect(sum("db_client_connection_timeouts_total")).toBe(1);
});

test("each value of the backlog has its own metric", async () => {
  createServiceMetrics(meters.meter).watchBacklog(async () => ({
    scheduleDays: 2,
    jobs: { count: 3, oldestSeconds: 4 },
    events: { count: 5, oldestSeconds: 6 },
    deliveries: { count: 7, oldestSeconds: 8 },
    disabledWebhooks: 9,
    holds: { live: 10, offered: 11, expired: 12 },
  }));
  const { sum } = await page();
  expect(sum("cupo_materialization_lag_seconds")).toBe(2 * 86_400);
  expect([sum("cupo_jobs_waiting"), sum("cupo_jobs_oldest_age_seconds")]).toEqual([3, 4]);
  expect([sum("cupo_events_outstanding"), sum("cupo_events_oldest_age_seconds")]).toEqual([5, 6]);
  expect([sum("cupo_webhooks_pending"), sum("cupo_webhooks_oldest_age_seconds")]).toEqual([7, 8]);
  expect(sum("cupo_webhooks_disabled")).toBe(9);
  const holds = ["live", "offered", "expired"].map((state) => sum("cupo_holds", { cupo_hold_state: state }));
  expect(holds).toEqual([10, 11, 12]);
});

test("a backlog that cannot be read has no values", async () => {
  createServiceMetrics(meters.meter).watchBacklog(async () => undefined);
  expect((await page()).sum("cupo_jobs_waiting")).toBeUndefined();
});

test.each([
  { takesWrites: true, ready: 1 },
  { takesWrites: false, ready: 0 },
  { takesWrites: undefined, ready: 0 },
])("the service is ready as its database says: $takesWrites", async ({ takesWrites, ready }) => {
  createServiceMetrics(meters.meter).watchReadiness(async () => takesWrites);
  expect((await page()).sum("cupo_ready")).toBe(ready);
});

test("the age of the issuer's keys is in seconds, and absent before they are loaded", async () => {
  let ageMs: number | undefined;
  createServiceMetrics(meters.meter).watchKeys(() => ageMs);
  expect((await page()).sum("cupo_keyset_age_seconds")).toBeUndefined();
  ageMs = 90_000;
  expect((await page()).sum("cupo_keyset_age_seconds")).toBe(90);
});

test("active requests are counted for each listener until they end", async () => {
  const requests = createRequestMetrics(meters.meter);
  const facts = { kind: "http", name: "GET", attributes: {}, operation: undefined, isReplay: false } as const;
  requests.began("public");
  requests.began("internal");
  requests.began("internal");
  requests.ended("internal", { ...facts, errorType: undefined }, 1);
  const { sum } = await page();
  const active = (listener: string) => sum("http_server_active_requests", { cupo_listener: listener });
  expect([active("public"), active("internal")]).toEqual([1, 1]);
});

test("the time of the processor is in seconds, by mode", async () => {
  vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 3_000_000, system: 1_500_000 });
  const stop = measureProcess(meters.meter);
  const { sum } = await page();
  stop();
  const timeIn = (mode: string) => sum("process_cpu_time_seconds_total", { cpu_mode: mode });
  expect([timeIn("user"), timeIn("system")]).toEqual([3, 1.5]);
});

async function page() {
  return parseMetrics(await meters.page());
}

import { expect, test } from "vitest";
import { mergePages } from "../../src/command-line/workers/merge-pages.js";
import { servedServices } from "../../src/services/services.js";
import { openLiveMetrics } from "../../src/telemetry/metrics/live-metrics.js";
import { openTelemetry } from "../../src/telemetry/open-telemetry.js";
import type { RequestFacts } from "../../src/telemetry/request-facts.js";

const operations = servedServices.flatMap(({ service }) =>
  service.methods.map(({ name }) => `${service.typeName}/${name}`),
);

test("the page is below 300 kB after successful and failed calls of each operation over RPC and each published one over REST", async () => {
  const metrics = await openLiveMetrics(undefined);
  for (const operation of operations) {
    for (const facts of callsOf(operation)) metrics.requests.ended("internal", facts, 0.01);
  }
  const published = operations.filter((operation) => operation.startsWith("cupo.access."));
  for (const operation of published) {
    for (const facts of requestsOf(operation)) metrics.requests.ended("public", facts, 0.01);
  }
  const page = await metrics.page();
  await metrics.close();
  const merged = mergePages([1, 2, undefined].map((worker) => ({ worker, page })));
  expect([operations.length > 100, published.length]).toEqual([true, 20]);
  expect(page.match(/^rpc_server_calls_total/gm)?.length).toBe(operations.length * 3);
  expect(page.match(/^http_server_requests_total/gm)?.length).toBe(published.length * 3);
  expect(Buffer.byteLength(page)).toBeLessThan(300_000);
  expect(Buffer.byteLength(merged)).toBeLessThan(300_000);
});

test("64 concurrent scrapes share one collection", async () => {
  const telemetry = await openTelemetry({ config: undefined, basePath: "", services: [], onError: () => undefined });
  let collections = 0;
  telemetry.service.watchWaiting(() => ++collections);
  const pages = await Promise.all(Array.from({ length: 64 }, () => telemetry.metricsPage()));
  await telemetry.close();
  expect(collections).toBe(1);
  expect(new Set(pages).size).toBe(1);
  expect(pages[0]?.toString()).toContain("cupo_calls_waiting 1");
});

function callsOf(operation: string): RequestFacts[] {
  const statuses = [
    ["connect", "ok"],
    ["connect", "invalid_argument"],
    ["grpc", "OK"],
  ];
  return statuses.map(([transport = "", status = ""]) => ({
    kind: "rpc",
    name: operation,
    attributes: {
      "rpc.system.name": "grpc",
      "rpc.method": operation,
      "rpc.response.status_code": status,
      "cupo.operation": operation,
      "cupo.transport": transport,
    },
    operation,
    isReplay: false,
    errorType: undefined,
  }));
}

/** Returns requests over REST to the longest path that the service has. */
function requestsOf(operation: string): RequestFacts[] {
  return [200, 409, 503].map((status) => ({
    kind: "http",
    name: operation,
    attributes: {
      "http.request.method": "PUT",
      "http.response.status_code": status,
      "http.route": "/api/external/v1/admin/configuration/scheduling/programs/{programId}/practitioners",
      "cupo.listener": "public",
      "cupo.operation": operation,
      "cupo.transport": "rest",
      ...(status === 503 ? { "error.type": "SERVICE_UNAVAILABLE" } : {}),
    },
    operation,
    isReplay: true,
    errorType: undefined,
  }));
}

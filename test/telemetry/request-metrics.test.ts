import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { validationFailed } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import type { ServiceEntry } from "../../src/services/services.js";
import { eventually } from "../support/eventually.js";
import { registration } from "../support/registration.js";
import { sendRequest } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { readMetrics } from "./metrics-page.js";

const HTTP = "http_server_requests_total";
const RPC = "rpc_server_calls_total";
const REGISTER = "cupo.access.v1.PatientService/RegisterPatient";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("a request over REST is counted", () => {
  const ofRegistering = {
    cupo_operation: REGISTER,
    cupo_transport: "rest",
    cupo_listener: "public",
    http_request_method: "POST",
    http_route: "/api/external/v1/patients",
  };

  test("with its duration, by operation, route and status", async () => {
    await service.request("POST", "/patients", { body: registration() });
    await counts(HTTP, { ...ofRegistering, http_response_status_code: "201" }, 1);
    const page = await readMetrics(service.internalUrl);
    const labels = { cupo_operation: REGISTER };
    expect(page.sum("http_server_request_duration_seconds_sum", labels)).toBeGreaterThan(0);
    expect(page.sum("http_server_request_duration_seconds_bucket", { ...labels, le: "+Inf" })).toBe(1);
  });

  test("if it is rejected early: without a token, with a malformed body, with a body that violates rules", async () => {
    await service.request("POST", "/patients", { headers: { authorization: null }, body: registration() });
    await service.request("POST", "/patients", { body: "{" });
    await service.request("POST", "/patients", { body: {} });
    for (const status of ["401", "400", "422"]) {
      await counts(HTTP, { ...ofRegistering, http_response_status_code: status }, 1);
    }
    await counts("cupo_problems_total", { cupo_problem_code: "INVALID_ACCESS_TOKEN", cupo_operation: REGISTER }, 1);
  });

  test("by its route template and never by its path", async () => {
    await service.request("PATCH", `/patients/${randomUUID()}`, {
      body: { fullName: "A", phone: "6015550100", expectedVersion: 1 },
    });
    const labels = { http_route: "/api/external/v1/patients/{patientId}", http_response_status_code: "404" };
    await counts(HTTP, labels, 1);
  });

  test("without a route if none matches, and by known HTTP methods", async () => {
    const { publicUrl } = service;
    await fetch(`${publicUrl}/s3cret/${randomUUID()}?s3cret=1`);
    await fetch(`${publicUrl}/api/external/v1/patients`, { method: "DELETE" });
    await fetch(`${publicUrl}/s3cret`, { method: "PROPFIND" });
    await counts(HTTP, { http_request_method: "GET", http_response_status_code: "404", cupo_listener: "public" }, 1);
    await counts(HTTP, { http_request_method: "DELETE", http_response_status_code: "405" }, 1);
    await counts(HTTP, { http_request_method: "_OTHER" }, 1);
    const { text, samples } = await readMetrics(service.internalUrl);
    expect(text.toLowerCase()).not.toContain("s3cret");
    const unrouted = samples.filter(
      ({ name, labels }) => name === HTTP && labels["http_response_status_code"] === "405",
    );
    expect(unrouted.map(({ labels }) => labels["http_route"])).toEqual([undefined]);
  });

  test("by route and status on the internal listener too, and not as an RPC", async () => {
    const token = await service.token();
    const path = `${service.internalUrl}/api/clinic/v1/patients`;
    await sendRequest("GET", `${path}/${randomUUID()}`, { token });
    const operation = { cupo_operation: "cupo.clinic.v1.PatientDirectoryService/GetPatient" };
    const labels = { http_route: "/api/clinic/v1/patients/{patientId}", http_response_status_code: "404" };
    await counts(HTTP, { ...operation, ...labels, cupo_transport: "rest", cupo_listener: "internal" }, 1);
    expect((await readMetrics(service.internalUrl)).sum(RPC, operation)).toBeUndefined();
  });

  test("separately if it is a stream, when that ends", async () => {
    const end = new AbortController();
    const headers = { authorization: `Bearer ${await service.token()}` };
    await fetch(`${service.internalUrl}/api/clinic/v1/events:watch`, { headers, signal: end.signal });
    end.abort();
    const operation = { cupo_operation: "cupo.clinic.v1.EventService/WatchEvents" };
    const labels = { http_route: "/api/clinic/v1/events:watch", http_response_status_code: "200" };
    await counts("cupo_stream_duration_seconds_count", { ...operation, ...labels, cupo_transport: "rest" }, 1);
    const { sum } = await readMetrics(service.internalUrl);
    expect([sum(HTTP, operation), sum("http_server_request_duration_seconds_count", operation)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("as a replay if it is one, and as a conflict if it is one", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = registration();
    for (const sent of [body, body, registration()])
      await service.request("POST", "/patients", { headers, body: sent });
    await counts("cupo_idempotency_replays_total", { cupo_operation: REGISTER }, 1);
    const reused = { cupo_problem_code: "CONCURRENT_MODIFICATION", cupo_problem_reason: "IDEMPOTENCY_KEY_REUSED" };
    await counts("cupo_problems_total", { ...reused, cupo_operation: REGISTER }, 1);
  });
});

describe("a call over RPC is counted", () => {
  const token = async () => ({
    headers: { authorization: `Bearer ${await service.token()}`, "idempotency-key": randomUUID() },
  });

  test("by method, protocol and code, each as the protocol spells it", async () => {
    await callRpc(service, PatientService.method.registerPatient, { ...registration() });
    await callRpc(service, PatientService.method.registerPatient, {});
    const byGrpc = createClient(PatientService, createGrpcTransport({ baseUrl: service.internalUrl }));
    const byWeb = createClient(
      PatientService,
      createGrpcWebTransport({ baseUrl: service.internalUrl, httpVersion: "1.1" }),
    );
    await byGrpc.registerPatient({}, await token()).catch(() => undefined);
    await byWeb.registerPatient({}).catch(() => undefined);
    const expected = [
      { cupo_transport: "connect", rpc_response_status_code: "ok" },
      { cupo_transport: "connect", rpc_response_status_code: "invalid_argument" },
      { cupo_transport: "grpc", rpc_response_status_code: "INVALID_ARGUMENT" },
      { cupo_transport: "grpc-web", rpc_response_status_code: "UNAUTHENTICATED" },
    ];
    for (const labels of expected) await counts(RPC, { ...labels, cupo_operation: REGISTER }, 1);
  });

  test("separately if it is a stream, when that ends", async () => {
    const end = new AbortController();
    const client = createClient(EventService, createGrpcTransport({ baseUrl: service.internalUrl }));
    const authorization = `Bearer ${await service.token()}`;
    const stream = client.watchEvents({}, { headers: { authorization }, signal: end.signal });
    await stream[Symbol.asyncIterator]().next();
    const labels = { rpc_method: "cupo.clinic.v1.EventService/WatchEvents" };
    expect((await readMetrics(service.internalUrl)).sum("cupo_stream_duration_seconds_count", labels)).toBeUndefined();
    end.abort();
    await counts("cupo_stream_duration_seconds_count", labels, 1);
    expect((await readMetrics(service.internalUrl)).sum(RPC, labels)).toBeUndefined();
  });
});

test("no label contains a tenant, a principal or an id", async () => {
  const { samples } = await readMetrics(service.internalUrl);
  const held = samples.flatMap(({ name, labels }) => (name === "target_info" ? [] : Object.values(labels)));
  expect(held.length).toBeGreaterThan(100);
  expect(held.filter((text) => /[0-9a-f]{8}-[0-9a-f]{4}-|client|test\b/.test(text))).toEqual([]);
});

test("an internal error has its type", async () => {
  const away = await startTestService({}, { isProxied: true });
  onTestFinished(() => away.close());
  await away.request("POST", "/patients", { body: registration() });
  away.proxy.setDown(true);
  await away.request("POST", "/patients", { body: registration() });
  const page = async () => readMetrics(away.internalUrl);
  await eventually(async () => (await page()).sum(HTTP, { error_type: "SERVICE_UNAVAILABLE" }) === 1);
  const labels = { error_type: "SERVICE_UNAVAILABLE", http_response_status_code: "503", cupo_operation: REGISTER };
  expect((await page()).sum(HTTP, labels)).toBe(1);
  expect((await page()).sum("cupo_ready")).toBe(0);
  expect((await page()).sum("db_client_connection_timeouts_total")).toBeGreaterThanOrEqual(1);
});

test.each([
  ["a fault of the service, which has its type", new Error("broken"), "INTERNAL_ERROR"],
  ["an error that is none", validationFailed([{ code: "INVALID_VALUE", field: "cursor", message: "bad" }]), undefined],
])("a REST stream can end after its first event with %s", async (_, error, type) => {
  const failing = await startTestService({}, { served: (entry) => withWatch(entry, () => failAfterOne(error)) });
  onTestFinished(() => failing.close());
  const headers = { authorization: `Bearer ${await failing.token()}` };
  const answer = await fetch(`${failing.internalUrl}/api/clinic/v1/events:watch`, { headers });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"code":')]);
  const ended = async () =>
    (await readMetrics(failing.internalUrl)).samples.filter(
      ({ name }) => name === "cupo_stream_duration_seconds_count",
    );
  await eventually(async () => (await ended()).length === 1);
  expect((await ended()).map(({ labels }) => labels["error_type"])).toEqual([type]);
});

test("a call rejected by a quota or a limit of concurrent calls is counted by the limit", async () => {
  const limited = await startTestService({ RATE_LIMIT_PER_SECOND: "1", RATE_LIMIT_PER_MINUTE: "1" });
  onTestFinished(() => limited.close());
  const token = await limited.token();
  const url = `${limited.baseUrl}/patients`;
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await sendRequest("POST", url, { token, body: registration() })).status);
  expect(statuses).toEqual([201, 429, 429]);
  await eventually(
    async () =>
      (await readMetrics(limited.internalUrl)).sum("cupo_limits_reached_total", { cupo_limit: "quota" }) === 2,
  );
});

test("the connection of shared quotas is measured if there is one", async () => {
  const sharing = await startTestService({ RATE_LIMIT_STORE: "postgres" });
  onTestFinished(() => sharing.close());
  const labels = { db_client_connection_pool_name: "quotas" };
  expect((await readMetrics(sharing.internalUrl)).sum("db_client_connection_max", labels)).toBe(1);
  expect((await readMetrics(service.internalUrl)).sum("db_client_connection_max", labels)).toBeUndefined();
});

/** Replaces the implementation of WatchEvents. */
function withWatch(entry: ServiceEntry, watchEvents: () => AsyncIterable<object>): ServiceEntry {
  if (entry.service !== EventService) return entry;
  return { ...entry, implementation: { ...entry.implementation, watchEvents } };
}

async function* failAfterOne(error: Error): AsyncGenerator<object> {
  yield { events: [], cursor: "" };
  throw error;
}

/** Waits for a count, because a request is counted after its answer. */
async function counts(name: string, labels: Readonly<Record<string, string>>, expected: number): Promise<void> {
  await eventually(async () => (await readMetrics(service.internalUrl)).sum(name, labels) === expected);
}

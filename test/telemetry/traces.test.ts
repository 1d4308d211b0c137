import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { registration } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import { startTestService } from "../support/service.js";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "./otlp-receiver.js";

const REGISTER = "cupo.access.v1.PatientService/RegisterPatient";
const REST = "POST /api/external/v1/patients";
/** The trace and span of a caller, by transport. */
const callers = {
  rest: { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" },
  connect: { traceId: "1af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203332" },
  grpc: { traceId: "2af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203333" },
  refused: { traceId: "3af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203334" },
  malformed: { traceId: "4af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203335" },
  away: { traceId: "5af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203336" },
  unsampled: { traceId: "6af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203337" },
};

let receiver: OtlpReceiver;
let log: readonly Record<string, unknown>[];
let correlationId: string;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const service = await startTestService({}, { telemetry: receiver.config, isProxied: true });
  ({ log } = service);
  correlationId = randomUUID();
  const rest = (caller: keyof typeof callers, changes: object) =>
    service.request("POST", "/patients", {
      body: registration(),
      headers: { traceparent: parentOf(caller) },
      ...changes,
    });
  const traced = { traceparent: parentOf("rest"), tracestate: "vendor=opaque", "x-correlation-id": correlationId };
  await rest("rest", { headers: traced });
  await callRpc(
    service,
    PatientService.method.registerPatient,
    { ...registration() },
    {
      headers: { traceparent: parentOf("connect") },
    },
  );
  const grpc = createClient(PatientService, createGrpcTransport({ baseUrl: service.internalUrl }));
  const headers = {
    authorization: `Bearer ${await service.token()}`,
    "idempotency-key": randomUUID(),
    traceparent: parentOf("grpc"),
  };
  const { consentGrantedAt: _, ...rejected } = registration();
  await grpc.registerPatient(rejected, { headers }).catch(() => undefined);
  await rest("refused", { headers: { authorization: null, traceparent: parentOf("refused") } });
  await rest("malformed", { body: "{" });
  await rest("unsampled", { headers: { traceparent: parentOf("unsampled").replace(/1$/, "0") } });
  for (const path of ["/livez", "/readyz", "/metrics"]) await fetch(`${service.internalUrl}${path}`);
  service.proxy.setDown(true);
  await rest("away", {});
  service.proxy.setDown(false);
  await service.close();
  await receiver.close();
});

describe("a request", () => {
  test.each([
    ["rest", REST, { "http.route": "/api/external/v1/patients", "http.response.status_code": 201 }],
    [
      "connect",
      REGISTER,
      { "rpc.system.name": "connectrpc", "rpc.method": REGISTER, "rpc.response.status_code": "ok" },
    ],
    [
      "grpc",
      REGISTER,
      { "rpc.system.name": "grpc", "rpc.method": REGISTER, "rpc.response.status_code": "INVALID_ARGUMENT" },
    ],
  ] as const)("over %s has a span within the trace of its caller", (transport, name, attributes) => {
    const span = serverSpan(transport);
    expect(span).toMatchObject({ name, parentSpanId: callers[transport].spanId, kind: 2, isError: false });
    expect(span.attributes).toMatchObject({ ...attributes, "cupo.operation": REGISTER });
  });

  test("keeps its caller's tracestate and correlation id", () => {
    expect(serverSpan("rest")).toMatchObject({
      traceState: "vendor=opaque",
      attributes: { "cupo.correlation_id": correlationId },
    });
  });

  test("that succeeds has its stages in order, with the statements in the transaction", () => {
    const server = serverSpan("rest");
    const stages = childrenOf(server);
    expect(stages.map(({ name }) => name)).toEqual([
      "authentication",
      "quota",
      "message",
      "validation",
      "permit",
      "transaction",
    ]);
    const transaction = stages.at(-1);
    const within = transaction === undefined ? [] : childrenOf(transaction);
    expect(within.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["connection", "INSERT idempotency_keys", "INSERT patients", "COMMIT"]),
    );
    const insert = within.find(({ name }) => name === "INSERT patients");
    expect(insert).toMatchObject({
      kind: 3,
      attributes: { "db.system.name": "postgresql", "db.operation.name": "INSERT", "db.collection.name": "patients" },
    });
  });

  test.each([
    ["refused", ["authentication"], "INVALID_ACCESS_TOKEN"],
    ["malformed", ["authentication", "quota", "message"], "INVALID_REQUEST"],
  ] as const)("that is %s ends in the stage that did it, which is no error of the service", (caller, names, type) => {
    const stages = childrenOf(serverSpan(caller));
    expect(stages.map(({ name }) => name)).toEqual(names);
    expect(stages.at(-1)).toMatchObject({ isError: false, attributes: { "error.type": type } });
    expect(serverSpan(caller).isError).toBe(false);
  });

  test("that fails without a database is an error, and so is the stage that failed", () => {
    const server = serverSpan("away");
    expect(server).toMatchObject({ isError: true, attributes: { "error.type": "SERVICE_UNAVAILABLE" } });
    expect(childrenOf(server).at(-1)).toMatchObject({ name: "transaction", isError: true });
  });

  test("that its caller does not sample has no span, but its trace id in the log", () => {
    expect(receiver.spans().filter(({ traceId }) => traceId === callers.unsampled.traceId)).toEqual([]);
    expect(log.filter((line) => line["trace_id"] === callers.unsampled.traceId)).toHaveLength(1);
  });

  test("of a health probe has no span", () => {
    expect(receiver.spans().filter(({ name }) => name === "GET")).toEqual([]);
  });

  test("has its trace and span ids in its log line", () => {
    const { traceId, spanId } = serverSpan("rest");
    expect(log.filter((line) => line["correlationId"] === correlationId)).toEqual([
      expect.objectContaining({ msg: "request", trace_id: traceId, span_id: spanId }),
    ]);
  });
});

test("the metrics of the page are exported too", () => {
  expect([...receiver.metricNames()]).toEqual(
    expect.arrayContaining(["http.server.request.duration", "rpc.server.call.duration", "cupo.problems"]),
  );
});

test("no message, header, address or statement is exported", () => {
  const names = new Set(receiver.spans().flatMap(({ attributes }) => Object.keys(attributes)));
  expect([...names].toSorted()).toEqual([
    "cupo.correlation_id",
    "cupo.listener",
    "cupo.operation",
    "cupo.transport",
    "db.collection.name",
    "db.operation.name",
    "db.query.summary",
    "db.system.name",
    "error.type",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "rpc.method",
    "rpc.response.status_code",
    "rpc.system.name",
  ]);
  const sent = receiver.received.map(({ body }) => body.toString()).join("\n");
  const { documentNumber, fullName, phone } = registration();
  for (const text of [fullName, phone, documentNumber, "Bearer", "eyJ", "?", "127.0.0.1:"]) {
    expect(sent.includes(text) ? text : undefined).toBeUndefined();
  }
});

test("log lines of a service without tracing have no trace id", async () => {
  const service = await startTestService();
  await service.request("POST", "/patients", { body: registration(), headers: { traceparent: parentOf("rest") } });
  await service.close();
  expect(service.log.filter((line) => "trace_id" in line)).toEqual([]);
  expect(service.log.filter(({ msg }) => msg === "request")).toHaveLength(1);
});

test("protobuf is exported by default", async () => {
  const own = await startOtlpReceiver();
  onTestFinished(() => own.close());
  const config = {
    traces: { protocol: "http/protobuf", url: `${own.url}/v1/traces` },
    metrics: { protocol: "http/protobuf", url: `${own.url}/v1/metrics`, everyMs: 60_000 },
    warnings: [],
  } as const;
  const service = await startTestService({}, { telemetry: config });
  await service.request("POST", "/patients", { body: registration() });
  await service.close();
  expect(new Set(own.received.map(({ headers }) => headers["content-type"]))).toEqual(
    new Set(["application/x-protobuf"]),
  );
  const bodies = own.received.map(({ path, body }) => `${path} ${body.toString("latin1")}`);
  expect(bodies.some((body) => body.startsWith("/v1/traces") && body.includes(REST))).toBe(true);
  expect(bodies.some((body) => body.startsWith("/v1/metrics") && body.includes("http.server.request.duration"))).toBe(
    true,
  );
});

test("an unreachable receiver causes only a log line, and the service still ends in time", async () => {
  const away = { protocol: "http/json", url: "http://127.0.0.1:1/v1/traces" } as const;
  const service = await startTestService({}, { telemetry: { traces: away, warnings: [] } });
  expect((await service.request("POST", "/patients", { body: registration() })).status).toBe(201);
  await service.close();
});

function parentOf(caller: keyof typeof callers): string {
  const { traceId, spanId } = callers[caller];
  return `00-${traceId}-${spanId}-01`;
}

function serverSpan(caller: keyof typeof callers): ReceivedSpan {
  const { traceId, spanId } = callers[caller];
  const found = receiver.spans().filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
  expect(found).toHaveLength(1);
  const [span] = found;
  if (span === undefined) throw new Error("no span");
  return span;
}

/** Returns the child spans, in the order in which they ended. */
function childrenOf({ spanId }: ReceivedSpan): ReceivedSpan[] {
  return receiver.spans().filter(({ parentSpanId }) => parentSpanId === spanId);
}

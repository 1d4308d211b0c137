import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CatalogService, CreatePayerRequestSchema } from "../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { OperationsService } from "../../src/gen/cupo/clinic/v1/operations_service_pb.js";
import { envelope, type RawCall, rpcFormats, sendCall } from "../support/raw-rpc.js";
import { shareTestService, type TestService } from "../support/service.js";

const PATH = `/${CatalogService.typeName}/CreatePayer`;
const READ = `/${OperationsService.typeName}/${OperationsService.methods[0]?.name}`;
const MARKER = "hostile-marker";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe.each(Object.entries(rpcFormats))("%s answers as its protocol requires", (_, format) => {
  const send = (call: Partial<RawCall>) =>
    sendCall(service.internalUrl, format, { path: PATH, headers: {}, body: Buffer.alloc(0), ...call });

  test.each(["HEAD", "GET", "PUT", "DELETE", "OPTIONS", "PATCH"])("405 with Allow for %s", async (method) => {
    const { status, headers } = await send({ method });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  test.each([
    ["HEAD", 405],
    ["PUT", 405],
    ["DELETE", 405],
    ["OPTIONS", 405],
    ["PATCH", 405],
    ["GET", 401],
  ])("a read by %s is %i, without its query", async (method, expected) => {
    const query = `?connect=v1&encoding=json&message=${MARKER}`;
    const { status, headers, everything } = await send({ method, path: READ + query });
    expect([status, headers.get("allow")]).toEqual([expected, expected === 405 ? "GET, POST" : null]);
    expect(everything).not.toContain(MARKER);
  });

  test.each([
    `/${CatalogService.typeName}/${MARKER}`,
    `/${MARKER}/CreatePayer`,
    "/CreatePayer",
    `${PATH}/`,
    `/${PATH}`,
  ])("404 for %s", async (path) => {
    const { status, everything } = await send({ path });
    expect(status).toBe(404);
    expect(everything).not.toContain(MARKER);
  });

  test.each([
    "",
    "text/plain",
    "application/json; charset=iso-8859-1",
    "application/json, application/json",
    "application/connect+json",
    "application/connect+proto",
    "application/grpc+json",
    "application/grpc-web+json",
    "application/grpc-web-text",
    `application/${MARKER}`,
  ])("415 with the supported media types for %j", async (contentType) => {
    const { status, headers, everything } = await send({ headers: { "content-type": contentType } });
    const served = "application/json, application/proto, application/grpc, application/grpc-web";
    expect([status, headers.get("accept-post")]).toEqual([415, served]);
    expect(everything).not.toContain(MARKER);
  });

  test("every answer has a correlation id and no-store", async () => {
    for (const call of [{}, { method: "GET" }, { path: "/" }]) {
      const { headers } = await send(call);
      expect(headers.get("x-correlation-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});

describe.each(Object.entries(rpcFormats).filter(([, { hasEnvelope }]) => hasEnvelope))("%s", (_, format) => {
  const message = toBinary(CreatePayerRequestSchema, create(CreatePayerRequestSchema, { code: MARKER }));

  test.each([
    ["no message", Code.Unimplemented, Buffer.alloc(0)],
    ["two messages", Code.Unimplemented, Buffer.concat([envelope(message), envelope(message)])],
    ["a compression flag without a compression", Code.Internal, envelope(message, 1)],
    ["an unknown flag", Code.Internal, envelope(message, 0x80)],
  ])("rejects %s with the code %i and no Problem", async (_name, expected, body) => {
    const { code, problem, everything } = await sendCall(service.internalUrl, format, await callWith(body));
    expect([code, problem]).toEqual([expected, undefined]);
    expect(everything).not.toContain(MARKER);
  });

  test.each([
    ["a cut off prefix", Code.InvalidArgument, Buffer.alloc(3)],
    ["a cut off message", Code.InvalidArgument, envelope(message).subarray(0, -1)],
    ["a message of 4 GiB by its prefix", Code.ResourceExhausted, Buffer.from([0, 255, 255, 255, 255])],
  ])("rejects %s with the code %i and the Problem of a 400", async (_name, expected, body) => {
    const { code, problem, everything } = await sendCall(service.internalUrl, format, await callWith(body));
    expect([code, problem?.["code"], problem?.["status"]]).toEqual([expected, "INVALID_REQUEST", 400]);
    expect(everything).not.toContain(MARKER);
  });
});

test("the JSON of Connect is that of REST, with timestamps in milliseconds", async () => {
  const key = randomUUID();
  const body = { code: "EPS-1", name: "ñ".repeat(200), taxId: "900123456", active: true };
  const headers = { authorization: `Bearer ${await service.token()}`, "idempotency-key": key };
  const rest = await service.request("POST", "/admin/configuration/payers", { headers, body });
  const answer = await fetch(service.internalUrl + PATH, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(await answer.text()).toBe(`{"payer":${rest.text}}`);
  expect(answer.headers.get("content-encoding")).toBeNull();
  expect(rest.body["createdAt"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("a Connect answer over 1 KiB is compressed if the caller accepts that", async () => {
  const body = { code: "EPS-2", name: "😀".repeat(200), taxId: "9".repeat(32), active: true };
  const send = async (acceptEncoding: string) => {
    const authorization = `Bearer ${await service.token()}`;
    const headers = { authorization, "idempotency-key": "compressed", "content-type": "application/json" };
    return fetch(service.internalUrl + PATH, {
      method: "POST",
      headers: { ...headers, "accept-encoding": acceptEncoding },
      body: JSON.stringify(body),
    });
  };
  const [plain, gzipped] = [await send("identity"), await send("deflate, gzip")];
  expect([plain.headers.get("content-encoding"), gzipped.headers.get("content-encoding")]).toEqual([null, "gzip"]);
  expect(await gzipped.text()).toBe(await plain.text());
});

async function callWith(body: Uint8Array): Promise<RawCall> {
  const headers = { authorization: `Bearer ${await service.token()}`, "idempotency-key": randomUUID() };
  return { path: PATH, headers, body };
}

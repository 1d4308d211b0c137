import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type Call, callOf } from "../src/call.js";
import { isCorrelationId } from "../src/interceptors/request-headers.js";
import { openCall, valuesOf } from "../src/open-call.js";
import { correlationId } from "./interceptors/run-interceptor.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("reads the known headers in any case with all their values, and no others", () => {
  const { headers } = openCall({
    rawHeaders: [
      ["Authorization", "Bearer one"],
      ["Cookie", "a=b"],
      ["idempotency-key", "k1"],
      ["IDEMPOTENCY-KEY", "k2"],
      ["authorization", "Bearer two"],
      ["X-Correlation-ID", ""],
      ["X-Authorization", "no"],
      ["Actor-ID", "u-1"],
      ["constructor", "no"],
      ["__proto__", "no"],
    ].flat(),
  });
  expect(headers).toEqual({
    authorization: ["Bearer one", "Bearer two"],
    idempotencyKey: ["k1", "k2"],
    correlationId: [""],
    actorId: ["u-1"],
  });
});

test("opens a call without effects and principal", () => {
  const call = openCall({ rawHeaders: [] });
  expect(call).toEqual({
    correlationId: expect.stringMatching(UUID),
    headers: { authorization: [], idempotencyKey: [], correlationId: [], actorId: [] },
    startedAt: expect.any(Number),
    responseHeaders: {},
    effects: [],
    newId: expect.any(Function),
  });
  expect(openCall({ rawHeaders: [] }).correlationId).not.toBe(call.correlationId);
});

test.each([correlationId, correlationId.toUpperCase()])("keeps a valid correlation id unchanged: %s", (sent) => {
  expect(openCall({ rawHeaders: ["X-Correlation-Id", sent] }).correlationId).toBe(sent);
});

test.each([
  { because: "it is no UUID", sent: ["42"] },
  { because: "it is empty", sent: [""] },
  { because: "there are two", sent: [correlationId, correlationId] },
  { because: "there is more in it", sent: [`${correlationId}\n`] },
])("creates a correlation id if $because", ({ sent }) => {
  const made = openCall({ rawHeaders: sent.flatMap((value) => ["X-Correlation-Id", value]) }).correlationId;
  expect(made).toMatch(UUID);
  expect(sent).not.toContain(made);
  expect(isCorrelationId(sent)).toBe(false);
});

test("stores the call in the context values", () => {
  const call = openCall({ rawHeaders: [] });
  expect(callOf(valuesOf(call))).toBe(call);
});

test("reads duplicates and latin1 values that Node.js joins, drops or decodes", async () => {
  const { headers } = await callOverHttp([
    ["Authorization", "Bearer one"],
    ["Authorization", "Bearer two"],
    ["Idempotency-Key", "clé"],
    ["Idempotency-Key", "k2"],
  ]);
  expect(headers).toEqual({
    authorization: ["Bearer one", "Bearer two"],
    idempotencyKey: ["clé", "k2"],
    correlationId: [],
    actorId: [],
  });
});

/** Returns the call that a server opens for these headers, sent as latin1. */
async function callOverHttp(rawHeaders: readonly (readonly string[])[]): Promise<Call> {
  let call: Call | undefined;
  const server = createServer((request, response) => {
    call = openCall(request);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve, reject) => {
    const headers = ["Host", "127.0.0.1", "Connection", "close", ...rawHeaders.flat()];
    httpRequest({ host: "127.0.0.1", port, headers, agent: false }, (response) => {
      response.resume().once("end", resolve);
    })
      .once("error", reject)
      .end();
  });
  await new Promise((resolve) => server.close(resolve));
  if (call === undefined) throw new Error("no request arrived");
  return call;
}

import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type Call, callOf } from "../../src/call.js";
import { isCorrelationId, openCall, valuesOf } from "../../src/interceptors/open-call.js";
import { correlationId } from "./run-interceptor.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("takes the three headers by names of any case, each as often as it was sent, and no others", () => {
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
    ].flat(),
  });
  expect(headers).toEqual({
    authorization: ["Bearer one", "Bearer two"],
    idempotencyKey: ["k1", "k2"],
    correlationId: [""],
    actorId: ["u-1"],
  });
});

test("opens a call with nothing done and nothing known of its principal", () => {
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

test.each([correlationId, correlationId.toUpperCase()])("keeps a correlation id as it was sent: %s", (sent) => {
  expect(openCall({ rawHeaders: ["X-Correlation-Id", sent] }).correlationId).toBe(sent);
});

test.each([
  { because: "it is no UUID", sent: ["42"] },
  { because: "it is empty", sent: [""] },
  { because: "there are two", sent: [correlationId, correlationId] },
  { because: "there is more in it", sent: [`${correlationId}\n`] },
])("makes a correlation id where $because", ({ sent }) => {
  const made = openCall({ rawHeaders: sent.flatMap((value) => ["X-Correlation-Id", value]) }).correlationId;
  expect(made).toMatch(UUID);
  expect(sent).not.toContain(made);
  expect(isCorrelationId(sent)).toBe(false);
});

test("puts the call where interceptors and services find it", () => {
  const call = openCall({ rawHeaders: [] });
  expect(callOf(valuesOf(call))).toBe(call);
});

test("sees what Node.js joins, drops or decodes otherwise", async () => {
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

/** The call that a request with these headers, sent as latin1, opens on a server. */
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

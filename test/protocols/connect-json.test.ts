import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RawRequest, sendRaw, withHeader } from "../support/raw-request.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { shareTestService, type TestService } from "../support/service.js";

const REGISTER = "/cupo.access.v1.PatientService/RegisterPatient";

let service: TestService;
let good: RawRequest;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("the Connect protocol as JSON, without a client library", () => {
  test("accepts and returns JSON", async () => {
    const { consentGrantedAt: _, ...sent } = registration();
    const answer = await send(withBody(registration(sent)));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ patient: { ...sent, id: expect.any(String), status: "ACTIVE", version: 1 } });
  });

  test("puts the Problem into the details of an error", async () => {
    const answer = await send(withBody({}));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: "invalid_argument",
      details: [
        { type: "cupo.access.v1.Problem", debug: { status: 422, code: "VALIDATION_FAILED" } },
        { type: "google.rpc.ErrorInfo", debug: { reason: "VALIDATION_FAILED" } },
        { type: "google.rpc.BadRequest" },
      ],
    });
  });

  test("rejects an unknown field", async () => {
    expectCode(await send(withBody(registration({ clinicalHistory: "none" }))), "invalid_argument");
  });

  test.each(["Authorization", "Idempotency-Key", "X-Correlation-Id"])("rejects two %s headers", async (name) => {
    const once = withBody(registration());
    const twice = [...once.headers, ...once.headers.filter(([other]) => other === name)];
    expectCode(await send(once), undefined);
    const code = name === "Authorization" ? "unauthenticated" : "invalid_argument";
    expectCode(await send({ ...once, headers: twice }), code);
  });

  test("rejects a body that is too large, compressed or not", async () => {
    const blanks = " ".repeat(10 * 1024 * 1024);
    const keyed = withBody({});
    expectCode(await send({ ...keyed, body: blanks.slice(0, 200 * 1024) }), "resource_exhausted");
    const bomb = { ...withHeader(keyed, "Content-Encoding", "gzip"), body: gzipSync(blanks) };
    expectCode(await send(bomb), "resource_exhausted");
  });

  test("returns a correlation id in every answer", async () => {
    for (const request of [withBody(registration()), withBody({}), { ...good, body: "{" }]) {
      expect((await send(request)).headers.get("x-correlation-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  beforeAll(async () => {
    good = {
      method: "POST",
      target: REGISTER,
      version: "HTTP/1.1",
      headers: [
        ["Host", new URL(service.internalUrl).host],
        ["Authorization", `Bearer ${await service.token()}`],
        ["Content-Type", "application/json"],
      ],
      body: "",
    };
  });
});

function withBody(body: object): RawRequest {
  const own: RawRequest["headers"] = [
    ["Idempotency-Key", randomUUID()],
    ["X-Correlation-Id", randomUUID()],
  ];
  return { ...good, headers: [...good.headers, ...own], body: JSON.stringify(body) };
}

function send(request: RawRequest): Promise<RestAnswer> {
  return sendRaw(service.internalUrl, request);
}

/** Requires an error with this code, or a success for undefined. */
function expectCode(answer: RestAnswer, code: string | undefined): void {
  const isRefused = answer.status >= 400 && answer.status < 500;
  expect({ isRefused, code: answer.body["code"] }).toEqual({ isRefused: code !== undefined, code });
}

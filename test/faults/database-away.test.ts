import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { eventually, patience } from "../support/eventually.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { within } from "../support/within.js";

/** Number of cut connections. The environment variable CUTS sets it. */
const CUTS = Number(process.env["CUTS"] || 10);
const CUTS_AT_ONCE = 10;
const REQUESTS = 40;
const SLACK_MS = 120_000;
const CUT_MS = 500;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterEach(() => service.proxy.setDown(false));

afterAll(() => service.close());

test("an unreachable database causes 503 with Retry-After, and the service recovers when it is back", async () => {
  const send = newRequest();
  expect((await newRequest()()).status).toBe(201);
  service.proxy.setDown(true);
  const away = await within(patience.timeout, send());
  expectProblem(away, 503);
  expect(Number(away.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await fetch(`${service.internalUrl}/readyz`)).status).toBe(503);
  expect((await fetch(`${service.internalUrl}/livez`)).status).toBe(200);

  service.proxy.setDown(false);
  const back = await vi.waitUntil(async () => isSuccess(await send()), patience);
  expect(back.headers.get("idempotent-replayed")).toBeNull();
  expect((await send()).text).toBe(back.text);
  await eventually(async () => (await fetch(`${service.internalUrl}/readyz`)).status === 200);
});

test.each(["cutBefore", "cutAfter"] as const)(
  "a connection lost at COMMIT (%s) is retried by the service",
  async (cut) => {
    const send = newRequest();
    service.proxy[cut]("COMMIT");
    const answer = await send();
    expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([201, null]);
    const replay = await send();
    expect([replay.text, replay.headers.get("idempotent-replayed")]).toEqual([answer.text, "true"]);
    expect(
      await service.query(`SELECT FROM audit_events WHERE resource_id = '${String(answer.body["id"])}'`),
    ).toHaveLength(1);
  },
);

test(
  "many requests whose connections are cut at the same time are each executed once",
  async () => {
    for (let cuts = 0; cuts < CUTS; cuts += CUTS_AT_ONCE) await loseConnections();
  },
  SLACK_MS + CUTS * CUT_MS,
);

/** Sends many requests, cuts some connections before and others after their COMMIT, and sends all requests again. */
async function loseConnections(): Promise<void> {
  const requests = Array.from({ length: REQUESTS }, newRequest);
  const first = requests.map((send) => send());
  for (const cut of ["cutAfter", "cutBefore"] as const)
    for (let i = 0; i < CUTS_AT_ONCE / 2; i++) service.proxy[cut]("COMMIT");
  const answers = await Promise.all(first);
  const again = await Promise.all(requests.map((send) => send()));
  for (const [index, answer] of answers.entries()) {
    if (answer.status !== 201) expectProblem(answer, 503);
    else expect(again[index]?.text).toBe(answer.text);
  }
  expect(again.map(({ status }) => status)).toEqual(requests.map(() => 201));
  const ids = again.map(({ body }) => `'${String(body["id"])}'`).join();
  const rows = await service.query(`SELECT resource_id FROM audit_events WHERE resource_id IN (${ids})`);
  expect(new Set(rows.map(({ resource_id: id }) => id)).size).toBe(requests.length);
  expect(rows).toHaveLength(requests.length);
}

/** Returns a function that sends the same registration each time. */
function newRequest(): () => Promise<RestAnswer> {
  const headers = { "idempotency-key": randomUUID() };
  const body = registration();
  return () => service.request("POST", "/patients", { headers, body });
}

function isSuccess(answer: RestAnswer): RestAnswer | false {
  return answer.status === 201 ? answer : false;
}

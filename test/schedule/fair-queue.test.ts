import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createPatient, createProgram } from "../contract/fixtures.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { readMetrics } from "../telemetry/metrics-page.js";
import { type Clinic, call, openClinic } from "./clinic.js";
import { buildCommitGate, type CommitGate } from "./commit-gate.js";

/**
 * Empty values select the defaults. With ten connections they allow four calls per principal, six per tenant, and one
 * heavy call per tenant.
 */
const DEFAULTS = { CALLS_PER_PRINCIPAL: "", CALLS_PER_TENANT: "", HEAVY_CALLS: "", HEAVY_CALLS_PER_TENANT: "" };

let database: TestDatabase;
let service: TestService;
let gate: CommitGate;
let greedy: Clinic;
let other: TokenFor;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await buildCommitGate(database);
  service = await startTestService({ DATABASE_URL: database.url, ...DEFAULTS });
});

beforeEach(async () => {
  greedy = await openClinic(service, { as: { tenantId: randomUUID() } });
  other = { tenantId: randomUUID() };
});

afterAll(async () => {
  await gate.end();
  await service.close();
  await database.drop();
});

describe("of concurrent calls,", () => {
  test("only one heavy call per tenant runs, and other calls are still served", async () => {
    const open = await gate.close("MaterializeSchedule");
    const answers = times(12, () => call(greedy, "MaterializeSchedule", { programId: greedy.programId }));
    await gate.waiting(1);
    await createPatient(service, {}, other);
    await createPatient(service, {}, greedy.as);
    await open();
    expectServedOrTold(await Promise.all(answers), 200, [503]);
  });

  test("heavy calls of many tenants leave most connections to light calls", async () => {
    const clinics = [greedy];
    while (clinics.length < 5) clinics.push(await openClinic(service, { as: { tenantId: randomUUID() } }));
    const open = await gate.close("MaterializeSchedule");
    const answers = clinics.map((clinic) => call(clinic, "MaterializeSchedule", { programId: clinic.programId }));
    await gate.waiting(3);
    await createPatient(service, {}, other);
    await open();
    expectServedOrTold(await Promise.all(answers), 200, [503]);
  });

  test("four per principal and six per tenant run, whatever the RPC", async () => {
    const open = await gate.close("RegisterPatient");
    const one = times(12, () => register("one"));
    await gate.waiting(4);
    const two = times(12, () => register("two"));
    await gate.waiting(6);
    await createProgram(service, {}, other);
    await open();
    expectServedOrTold(await Promise.all([...one, ...two]), 201, [429, 503]);
  });
});

test("a call releases its permit however it ends: successful, replayed, rejected or aborted by its caller", async () => {
  const token = await service.token({ ...greedy.as, client: "one" });
  const key = randomUUID();
  const [body, unknown] = [registration(), `/patients/${randomUUID()}`];
  const update = { body: { fullName: "Ana", phone: "+57 300 555 0100", expectedVersion: 1 }, token };
  const statuses: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    statuses.push(
      (await service.request("POST", "/patients", { token, body, headers: { "idempotency-key": key } })).status,
    );
    statuses.push((await service.request("POST", "/patients", { token, body })).status);
    statuses.push((await service.request("PATCH", unknown, update)).status);
    await leaveAtOnce(token);
  }
  expect(statuses).toEqual(Array.from({ length: 5 }, () => [201, 409, 404]).flat());
  const open = await gate.close("RegisterPatient");
  const answers = times(4, () => register("one"));
  await gate.waiting(4);
  await open();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
});

test("a heavy call that waits too long for those of other tenants is 503 BUSY and keeps its quota", async () => {
  const small = await startTestService({
    DATABASE_URL: database.url,
    ...DEFAULTS,
    HEAVY_CALLS: "1",
    WAIT_SECONDS: "1",
  });
  onTestFinished(() => small.close());
  const [one, two] = [await openClinic(small, { as: greedy.as }), await openClinic(small, { as: other })];
  const open = await gate.close("MaterializeSchedule");
  const first = call(one, "MaterializeSchedule", { programId: one.programId });
  await gate.waiting(1);
  const active = { active: true, expectedVersion: 1 };
  const path = `/admin/configuration/scheduling/programs/${two.programId}`;
  const refused = await small.request("PATCH", path, { token: await small.token(other), body: active });
  await open();
  expectProblem(refused, 503, [" BUSY"]);
  expect(["1", "2", "3"]).toContain(refused.headers.get("retry-after"));
  expect(refused.headers.get("ratelimit")).toMatch(/"minute";r=[1-9]/);
  expect((await first).status).toBe(200);
  const limits = { cupo_limit: "heavy_calls" };
  await eventually(async () => (await readMetrics(small.internalUrl)).sum("cupo_limits_reached_total", limits) === 1);
  const answered = "http_server_requests_total";
  const busy = { http_response_status_code: "503" };
  await eventually(async () => (await readMetrics(small.internalUrl)).sum(answered, busy) === 1);
  const faults = { ...busy, error_type: "SERVICE_UNAVAILABLE" };
  expect((await readMetrics(small.internalUrl)).sum(answered, faults)).toBeUndefined();
});

test("calls beyond the queue's limit are faults, 503 with Retry-After; a tenant with few calls is still served", async () => {
  const narrow = { DATABASE_CONNECTIONS: "2", WAITING_CALLS: "2" };
  const small = await startTestService({ DATABASE_URL: database.url, ...DEFAULTS, ...narrow });
  onTestFinished(() => small.close());
  const open = await gate.close("RegisterPatient");
  const send = async (tenantId: string) =>
    small.request("POST", "/patients", { token: await small.token({ tenantId }), body: registration() });
  const first = times(2, () => send(randomUUID()));
  await gate.waiting(2);
  const [refused, tenantId] = [new Set<RestAnswer>(), randomUUID()];
  const greedyOnes = times(4, async () => {
    const answer = await send(tenantId);
    if (answer.status === 503) refused.add(answer);
    return answer.status;
  });
  await eventually(async () => refused.size === 2);
  const little = send(randomUUID());
  await eventually(async () => refused.size === 3);
  await open();
  expect((await Promise.all([...first, little])).map(({ status }) => status)).toEqual([201, 201, 201]);
  expect((await Promise.all(greedyOnes)).toSorted((a, b) => a - b)).toEqual([201, 503, 503, 503]);
  for (const answer of refused) {
    expectProblem(answer, 503);
    expect(["1", "2", "3"]).toContain(answer.headers.get("retry-after"));
  }
  const faults = { error_type: "SERVICE_UNAVAILABLE" };
  const answered = async () => (await readMetrics(small.internalUrl)).sum("http_server_requests_total", faults);
  await eventually(async () => (await answered()) === refused.size);
});

function times<T>(count: number, send: () => Promise<T>): Promise<T>[] {
  return Array.from({ length: count }, send);
}

async function register(client: string): Promise<RestAnswer> {
  const token = await service.token({ ...greedy.as, client });
  return service.request("POST", "/patients", { token, body: registration() });
}

/** Sends a registration and aborts it while it is being processed. */
async function leaveAtOnce(token: string): Promise<void> {
  const open = await gate.close("RegisterPatient");
  const caller = new AbortController();
  const sent = fetch(`${service.baseUrl}/patients`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
    body: JSON.stringify(registration()),
    signal: caller.signal,
  });
  await gate.waiting(1);
  caller.abort();
  await expect(sent).rejects.toThrow("abort");
  await open();
}

/**
 * Requires that some calls succeeded, and that all others were answered with Retry-After and one of the given statuses.
 */
function expectServedOrTold(answers: readonly RestAnswer[], success: number, refusals: readonly number[]): void {
  const done = answers.filter(({ status }) => status === success);
  const told = answers.filter(({ status }) => refusals.includes(status));
  expect(done.length).toBeGreaterThan(0);
  expect(done.length + told.length).toBe(answers.length);
  for (const answer of told) {
    expectProblem(answer, answer.status);
    expect(["1", "2", "3"]).toContain(answer.headers.get("retry-after"));
  }
}

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { sendAtOnce, violationsOfOnce } from "../support/once.js";
import { expectCommonHeaders, expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import type { OperationUnderTest } from "./common-answers.js";

/** Connections on which PostgreSQL waits for the next statement of an unfinished pipeline. */
const WAITING_FOR_COMMIT = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND wait_event = 'ClientRead'`;

/** A request that can be repeated with the same path, body and key. Defaults to the same principal. */
interface Repeatable {
  readonly client: string;
  readonly body: object;
  send(changes?: { readonly body?: unknown; readonly claims?: TokenFor; readonly key?: string }): Promise<RestAnswer>;
}

/** A completed request and its first answer. Later requests with its key do nothing, so tests can share it. */
interface Done {
  readonly request: Repeatable;
  readonly first: RestAnswer;
}

/**
 * Describes how all operations handle the Idempotency-Key (specification sections 4 and 8). `serviceOf` is called
 * within tests.
 */
export function describeIdempotency(operation: OperationUnderTest, serviceOf: () => TestService): void {
  const prepare = () => prepareRequest(operation, serviceOf());
  let once: Promise<Done> | undefined;
  const done = () => (once ??= prepare().then(async (request) => ({ request, first: await request.send() })));
  describe("a replay", () => describeReplays(operation, done, serviceOf));
  describe("409 for the Idempotency-Key", () => describeConflicts(prepare, done, serviceOf));
  describe("an Idempotency-Key", () => describeKeys(prepare, done));
  test("of one request sent 64 times concurrently, one is executed and all are answered alike", async () => {
    const request = await prepare();
    const answers = await sendAtOnce(serviceOf().publicUrl, 64, request.send);
    expect(violationsOfOnce(answers)).toEqual([]);
    expect(await effectsOf(request.client, serviceOf())).toBe(1);
  });
}

function describeReplays(
  { successStatus }: OperationUnderTest,
  done: () => Promise<Done>,
  serviceOf: () => TestService,
): void {
  test("has the status and body of the first answer and the replay header, and does nothing", async () => {
    const { request, first } = await done();
    const second = await request.send();
    expect(second.status).toBe(successStatus);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("content-type")).toBe("application/json");
    expectCommonHeaders(second);
    expect(second.headers.get("x-correlation-id")).not.toBe(first.headers.get("x-correlation-id"));
    expect(await effectsOf(request.client, serviceOf())).toBe(1);
  });

  test("does not depend on the formatting of the JSON", async () => {
    const { request, first } = await done();
    const reversed = Object.fromEntries(Object.entries(request.body).toReversed());
    const second = await request.send({ body: JSON.stringify(reversed, null, 2) });
    expect([second.status, second.text]).toEqual([successStatus, first.text]);
  });

  test("requires the permissions that the operation requires now", async () => {
    const { request } = await done();
    expectProblem(await request.send({ claims: { scopes: ["patients:document:read"] } }), 403);
    expectProblem(await request.send({ claims: { expiresInSeconds: -300 } }), 401);
  });
}

function describeConflicts(
  prepare: () => Promise<Repeatable>,
  done: () => Promise<Done>,
  serviceOf: () => TestService,
): void {
  test("rejects another request with a used key", async () => {
    const { request, first } = await done();
    const other = await prepare();
    const body = { ...other.body, ...("fullName" in other.body ? { fullName: "Somebody Else" } : {}) };
    expectProblem(await request.send({ body }), 409, ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"]);
    expect((await request.send()).text).toBe(first.text);
    expect(await effectsOf(request.client, serviceOf())).toBe(1);
  });

  test.each(["organizationId", "companyId"])("treats the same key under another %s as another key", async (claim) => {
    const { request } = await done();
    const answer = await request.send({ claims: { [claim]: randomUUID() } });
    expectProblem(answer, 409, ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"]);
  });

  test("answers that the first request is still in progress", async () => {
    const request = await prepare();
    const hold = serviceOf().proxy.holdBefore("COMMIT", "cupo.access.v1.");
    const first = request.send();
    await hold.reached;
    await eventually(async () => (await serviceOf().query(WAITING_FOR_COMMIT)).length > 0);
    const second = await request.send();
    hold.release();
    expectProblem(second, 409, ["Idempotency-Key IDEMPOTENCY_IN_PROGRESS"]);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await request.send()).text).toBe((await first).text);
  });
}

function describeKeys(prepare: () => Promise<Repeatable>, done: () => Promise<Done>): void {
  test("can be reused for any request after a failed one", async () => {
    const request = await prepare();
    expectProblem(await request.send({ body: {} }), 422);
    const answer = await request.send();
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  });

  test("does not hide that a body is invalid", async () => {
    const { request } = await done();
    expectProblem(await request.send({ body: { ...request.body, unknown: true } }), 422, ["unknown UNKNOWN_FIELD"]);
  });

  test("belongs to one principal", async () => {
    const [mine, theirs] = await Promise.all([prepare(), prepare()]);
    const key = randomUUID();
    for (const request of [mine, theirs]) {
      const answer = await request.send({ key });
      expect(answer.status).toBeLessThan(300);
      expect(answer.headers.get("idempotent-replayed")).toBeNull();
    }
  });

  test("is case-sensitive", async () => {
    const key = randomUUID();
    for (const variant of [`${key}a`, `${key}A`]) {
      const answer = await (await prepare()).send({ key: variant, claims: { client: `client-of-${key}` } });
      expect(answer.headers.get("idempotent-replayed")).toBeNull();
      expect(answer.status).toBeLessThan(300);
    }
  });
}

async function prepareRequest({ method, prepare }: OperationUnderTest, service: TestService): Promise<Repeatable> {
  const { path, body } = await prepare(service);
  const client = randomUUID();
  const ownKey = randomUUID();
  return {
    client,
    body,
    async send(changes = {}) {
      const token = await service.token({ client, ...changes.claims });
      const headers = { "idempotency-key": changes.key ?? ownKey };
      return service.request(method, path, { token, headers, body: changes.body ?? body });
    },
  };
}

/** Returns how many changes of the client are in the audit trail. */
async function effectsOf(client: string, service: TestService): Promise<number> {
  return (await service.query(`SELECT FROM audit_events WHERE principal LIKE '%${client}'`)).length;
}

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditOf } from "../support/audit.js";
import { sendAtOnce, violationsOfOnce } from "../support/once.js";
import { expectCommonHeaders, expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { shareTestService, type TestService } from "../support/service.js";
import { type Draft, prepare, prepareUnused } from "./operations.js";
import { implementedOperations } from "./published-operations.js";
import { sendGrpc, sendRest } from "./send.js";

const AT_ONCE = 8;
const REUSED = ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"];

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

for (const operation of implementedOperations) {
  const { successStatus } = operation.options;
  describe(operation.name, () => {
    const headers = { "idempotency-key": randomUUID() };
    let draft: Draft;
    let first: RestAnswer;

    beforeAll(async () => {
      draft = await prepare(operation, service);
      first = await sendRest(service, operation, draft, { headers });
    });

    test("replays status and body with Idempotent-Replayed, and does not execute again", async () => {
      const second = await sendRest(service, operation, draft, { headers });
      expect([second.status, second.text]).toEqual([successStatus, first.text]);
      expect(second.headers.get("idempotent-replayed")).toBe("true");
      expect(second.headers.get("content-type")).toBe("application/json");
      expectCommonHeaders(second);
      expect(second.headers.get("x-correlation-id")).not.toBe(first.headers.get("x-correlation-id"));
      expect(await auditOf(service, second)).toEqual([]);
    });

    test("replays over gRPC a request that was executed over REST", async () => {
      const second = await sendGrpc(service, operation, draft, { headers });
      expect([second.status, second.body]).toEqual([successStatus, first.body]);
      expect(second.headers.get("idempotent-replayed")).toBe("true");
    });

    test("replays over REST a request that was executed over gRPC", async () => {
      const own = { headers: { "idempotency-key": randomUUID() } };
      const other = await prepare(operation, service);
      const done = await sendGrpc(service, operation, other, own);
      const second = await sendRest(service, operation, other, own);
      expect([second.status, second.body]).toEqual([successStatus, done.body]);
      expect(second.headers.get("idempotent-replayed")).toBe("true");
    });

    test("replays if the same JSON is written differently", async () => {
      const body = JSON.stringify(Object.fromEntries(Object.entries(draft.body).toReversed()), null, 2);
      expect((await sendRest(service, operation, draft, { headers, body })).text).toBe(first.text);
    });

    test("replays if the ids in the path differ in case", async () => {
      const path = Object.fromEntries(Object.entries(draft.path).map(([name, id]) => [name, id.toUpperCase()]));
      const second = await sendRest(service, operation, { ...draft, path }, { headers });
      expect([second.status, second.text]).toEqual([successStatus, first.text]);
    });

    test("rejects a different request with a used key, including one of another organization or company", async () => {
      const other = await prepareUnused(operation, service);
      expectProblem(await sendRest(service, operation, other, { headers }), 409, REUSED);
      for (const as of [{ organizationId: randomUUID() }, { companyId: randomUUID() }]) {
        expectProblem(await sendRest(service, operation, draft, { headers, as }), 409, REUSED);
      }
      const invalid = { ...draft.body, unknown: true };
      expectProblem(await sendRest(service, operation, draft, { headers, body: invalid }), 422, [
        "unknown UNKNOWN_FIELD",
      ]);
    });

    test("requires the same authorization for a replay", async () => {
      expectProblem(await sendRest(service, operation, draft, { headers, as: { scopes: [] } }), 403);
      expectProblem(await sendRest(service, operation, draft, { headers, as: { expiresInSeconds: -300 } }), 401);
    });

    test("keeps the keys of principals and operations apart, and releases the key of a failed request", async () => {
      const own = { headers: { "idempotency-key": randomUUID() } };
      const later = await prepare(operation, service);
      expectProblem(await sendRest(service, operation, later, { ...own, body: {} }), 422);
      for (const client of [randomUUID(), randomUUID()]) {
        const another = await prepare(operation, service);
        const answer = await sendRest(service, operation, another, { ...own, as: { client } });
        expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([successStatus, null]);
      }
      const answer = await sendRest(service, operation, later, own);
      expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([successStatus, null]);
    });

    test(`executes once a request that is sent ${AT_ONCE} times concurrently`, async () => {
      const own = { headers: { "idempotency-key": randomUUID() } };
      const once = await prepare(operation, service);
      const answers = await sendAtOnce(service.publicUrl, AT_ONCE, () => sendRest(service, operation, once, own));
      expect(violationsOfOnce(answers)).toEqual([]);
      const audits = await Promise.all(answers.map((answer) => auditOf(service, answer)));
      expect(audits.flat()).toHaveLength(1);
    });
  });
}

test("one key can be used with every operation, each with its own result", async () => {
  const headers = { "idempotency-key": randomUUID() };
  for (const operation of implementedOperations) {
    const answer = await sendRest(service, operation, await prepare(operation, service), { headers });
    expect([operation.name, answer.status]).toEqual([operation.name, operation.options.successStatus]);
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  }
});

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { prepare } from "../contract/operations.js";
import { implementedOperations } from "../contract/published-operations.js";
import { sendGrpc, sendRest } from "../contract/send.js";
import { auditOf } from "../support/audit.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { sendAtOnce, violationsOfOnce } from "../support/once.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import type { TestService } from "../support/service.js";
import { type BalancedReplicas, startBalancedReplicas } from "./balanced-replicas.js";
import { startSteadyLoad } from "./steady-load.js";

const REPLICAS = 3;
const PER_MINUTE = 60;
const AT_ONCE = 3 * REPLICAS;
/** Clients over REST, and as many over gRPC. */
const CLIENTS = 3;
const BETWEEN = 60;
const SLACK_MS = 240_000;

describe("three replicas behind a balancer", () => {
  let database: TestDatabase;
  let replicas: BalancedReplicas;

  beforeAll(async () => {
    database = await createTestDatabase();
    replicas = await startBalancedReplicas(database, REPLICAS, { DRAIN_SECONDS: "2" });
  }, SLACK_MS);

  afterAll(async () => {
    await replicas.close();
    await database.drop();
  }, SLACK_MS);

  for (const operation of implementedOperations) {
    const { successStatus } = operation.options;
    describe(operation.name, () => {
      test("is executed through the balancer and replayed by each replica over REST and gRPC", async () => {
        const draft = await prepare(operation, replicas.service);
        const headers = { "idempotency-key": randomUUID() };
        const first = await sendRest(replicas.service, operation, draft, { headers });
        expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([successStatus, null]);
        for (const replica of replicas.each) {
          const [overRest, overGrpc] = [
            await sendRest(replica, operation, draft, { headers }),
            await sendGrpc(replica, operation, draft, { headers }),
          ];
          expect([overRest.status, overRest.text]).toEqual([successStatus, first.text]);
          expect([overGrpc.status, overGrpc.body]).toEqual([successStatus, first.body]);
          for (const { headers: said } of [overRest, overGrpc]) expect(said.get("idempotent-replayed")).toBe("true");
          expect(await auditOf(replica, overRest)).toEqual([]);
        }
      });

      test("is rejected by each replica with the same text", async () => {
        const draft = await prepare(operation, replicas.service);
        const headers = { "x-correlation-id": randomUUID() };
        const send = (replica: TestService) =>
          sendRest(replica, operation, draft, { headers, body: { unknown: true } });
        const texts = await Promise.all(
          [replicas.service, ...replicas.each].map(async (one) => (await send(one)).text),
        );
        expect(new Set(texts).size).toBe(1);
        expectProblem(await send(replicas.service), 422);
      });

      test(`executes once a request that is sent ${AT_ONCE} times concurrently`, async () => {
        const draft = await prepare(operation, replicas.service);
        const changes = { headers: { "idempotency-key": randomUUID() } };
        const { service } = replicas;
        const send = () => sendRest(service, operation, draft, changes);
        expect(violationsOfOnce(await sendAtOnce(service.publicUrl, AT_ONCE, send))).toEqual([]);
      });
    });
  }

  test(
    "are restarted one after another under load and lose no request, over REST and gRPC with kept connections",
    async () => {
      const { service, replace } = replicas;
      const load = startSteadyLoad(service, await service.token(), CLIENTS);
      for (let which = 0; which < REPLICAS; which++) {
        await load.more(BETWEEN);
        expect(await replace(which)).toBe(0);
      }
      await load.more(BETWEEN);
      const { answered, failed } = await load.stop();
      expect(failed).toEqual([]);
      expect(answered).toBeGreaterThan(BETWEEN * (REPLICAS + 1));
    },
    SLACK_MS,
  );
});

test(
  "two replicas share the quota of a principal, and reject the excess with the time to wait",
  async () => {
    const database = await createTestDatabase();
    const replicas = await startBalancedReplicas(database, 2, { RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) });
    onTestFinished(async () => {
      await replicas.close();
      await database.drop();
    });
    const send = async (replica: TestService | undefined) =>
      replica?.request("POST", "/patients", { body: registration() });
    const answers = await Promise.all(
      Array.from({ length: 2 * PER_MINUTE }, (_, index) => send(replicas.each[index % 2])),
    );
    const statuses = answers.map((answer) => answer?.status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(PER_MINUTE);
    for (const answer of answers) {
      if (answer === undefined || answer.status === 201) continue;
      expectProblem(answer, 429);
      expect(answer.headers.get("ratelimit-policy")).toContain(`"minute";q=${PER_MINUTE};w=60`);
      expect(answer.headers.get("ratelimit")).toMatch(/"minute";r=0;t=\d+/);
      const wait = Number(answer.headers.get("retry-after"));
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(wait).toBeLessThanOrEqual(60);
    }
    expect((await replicas.service.query("SELECT FROM patients")).length).toBe(PER_MINUTE);
    const token = await replicas.service.token({ client: "another" });
    const another = await replicas.service.request("POST", "/patients", { token, body: registration() });
    expect(another.status).toBe(201);
  },
  SLACK_MS,
);

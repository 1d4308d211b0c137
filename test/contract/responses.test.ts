import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationName } from "../../src/operation.js";
import { auditOf } from "../support/audit.js";
import { expectCommonHeaders } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { shareTestService, type TestService } from "../support/service.js";
import { type Draft, prepare } from "./operations.js";
import { implementedOperations, type PublishedOperation, versionedOperations } from "./published-operations.js";
import { sendGrpc, sendRest } from "./send.js";
import { differences } from "./shape.js";
import { resources } from "./specification.js";

/** Resources whose responses repeat nothing of the request. */
const TELLS_NOTHING_SENT = new Set(["EligibilityDecision", "WaitlistEntry", "UserAttentionCase"]);

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

for (const operation of implementedOperations) {
  describe(operation.name, () => {
    test("answers with exactly the members of its resource, each of its type", async () => {
      const answer = await sendRest(service, operation, await prepare(operation, service));
      expectSuccess(operation, answer);
    });

    test("answers the same over gRPC", async () => {
      const draft = await prepare(operation, service);
      const answer = await sendGrpc(service, operation, draft);
      expectSuccess(operation, answer);
      expect(answer.body).toMatchObject(echoOf(operation, draft));
    });

    test("returns the values that were sent", async () => {
      const draft = await prepare(operation, service);
      const { body } = await sendRest(service, operation, draft);
      expect(body).toMatchObject(echoOf(operation, draft));
    });

    test("answers JSON with the correlation id, no-store and nosniff", async () => {
      const headers = { "x-correlation-id": randomUUID() };
      const answer = await sendRest(service, operation, await prepare(operation, service), { headers });
      expectCommonHeaders(answer);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(answer.headers.get("x-correlation-id")).toBe(headers["x-correlation-id"]);
      expect(answer.headers.get("idempotent-replayed")).toBeNull();
    });

    test("writes one audit row with the resource and its version", async () => {
      const answer = await sendRest(service, operation, await prepare(operation, service));
      expect(await auditOf(service, answer)).toEqual([
        {
          tenant_id: service.tenantId,
          operation: operationName(operation.method),
          principal: expect.stringMatching(/\btest$/),
          action: isUpdate(operation) ? "UPDATE" : "CREATE",
          resource_type: operation.response.message.name,
          resource_id: answer.body["id"] ?? answer.body["decisionId"] ?? answer.body["programId"],
          resource_version: answer.body["version"] ?? null,
        },
      ]);
    });
  });
}

test("every versioned resource has version 1 at first and 2 after its first change", async () => {
  for (const operation of implementedOperations) {
    const { body } = await sendRest(service, operation, await prepare(operation, service));
    if ("version" in body) expect([operation.name, body["version"]]).toEqual([operation.name, firstVersion(operation)]);
  }
});

function firstVersion(operation: PublishedOperation): number {
  return isUpdate(operation) ? 2 : 1;
}

function isUpdate(operation: PublishedOperation): boolean {
  return versionedOperations.includes(operation);
}

function expectSuccess({ options, response }: PublishedOperation, answer: RestAnswer): void {
  expect([answer.status, answer.text]).toEqual([options.successStatus, expect.any(String)]);
  expect(differences(resources[response.message.name] ?? {}, answer.body)).toEqual([]);
}

/** Returns the values that the response must repeat. The last id of the path is the id of the resource. */
function echoOf({ response }: PublishedOperation, { path, body }: Draft): Record<string, unknown> {
  const { name } = response.message;
  if (TELLS_NOTHING_SENT.has(name)) return {};
  const members = resources[name] ?? {};
  const id = Object.values(path).at(-1);
  const sent = { ...body, ...path, ...(id === undefined ? {} : { id }) };
  return Object.fromEntries(Object.entries(sent).filter(([member]) => member in members));
}

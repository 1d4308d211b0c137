import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditOf } from "../support/audit.js";
import { sendAtOnce } from "../support/once.js";
import { expectProblem, messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import { type Draft, prepare, prepareUnused, referencesOf, renew } from "./operations.js";
import { operationNamed, type PublishedOperation, versionedOperations } from "./published-operations.js";
import { readResource, sendGrpc, sendRest, summaryOf } from "./send.js";

const STALE = "409 expectedVersion STALE_VERSION";
const AT_ONCE = 10;
const OTHER_VERSIONS = [0, 2, -1, 2_147_483_647, -2_147_483_648];

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

for (const operation of versionedOperations) {
  describe(operation.name, () => {
    test("rejects any other version than 1 of a new resource, reports the current version and changes nothing", async () => {
      const draft = await prepareUnused(operation, service);
      const before = await readResource(service, operation, draft);
      for (const expectedVersion of OTHER_VERSIONS) {
        const answer = await sendRest(service, operation, draft, { body: { ...draft.body, expectedVersion } });
        expectProblem(answer, 409, ["expectedVersion STALE_VERSION"]);
        expect(messagesOf(answer).join()).toMatch(/\b1\b/);
        expect(await auditOf(service, answer)).toEqual([]);
      }
      expect(await readResource(service, operation, draft)).toEqual(before);
    });

    test("checks the resource first, then the references of the body, then the version", async () => {
      const draft = await prepareUnused(operation, service);
      const absent = Object.fromEntries(Object.keys(draft.path).map((field) => [field, randomUUID()]));
      const body = { ...draft.body, ...missingReference(operation, draft), expectedVersion: 2 };
      expectProblem(await sendRest(service, operation, { path: absent, body }), 404, []);
      const items = Object.keys(missingReference(operation, draft));
      const answer = await sendRest(service, operation, draft, { body });
      if (items.length === 0) expect(summaryOf(answer)).toBe(STALE);
      else expect(summaryOf(answer)).toMatch(/^404 \S+ NOT_FOUND$/);
    });

    test("rejects a stale version over gRPC too", async () => {
      const draft = await prepareUnused(operation, service);
      const body = { ...draft.body, expectedVersion: 2 };
      expect(summaryOf(await sendGrpc(service, operation, { ...draft, body }))).toBe(STALE);
    });

    test("increments the version by one each time, also for equal values", async () => {
      const draft = await prepare(operation, service);
      for (const expectedVersion of [1, 2, 3]) {
        const { body } = await renew(operation, service, draft);
        const answer = await sendRest(service, operation, draft, { body: { ...body, expectedVersion } });
        expect([answer.status, answer.body["version"]]).toEqual([200, expectedVersion + 1]);
        expect(await readResource(service, operation, draft)).toMatchObject(answer.body);
      }
    });

    test(`accepts one of ${AT_ONCE} concurrent updates of a version`, async () => {
      const draft = await prepare(operation, service);
      const answers = await sendAtOnce(service.publicUrl, AT_ONCE, () => sendRest(service, operation, draft));
      const losers = answers.filter(({ status }) => status !== 200);
      expect(losers.map(summaryOf)).toEqual(Array.from({ length: AT_ONCE - 1 }, () => STALE));
      const winner = answers.find(({ status }) => status === 200);
      expect(await readResource(service, operation, draft)).toMatchObject(winner?.body ?? {});
    });
  });
}

/** The updates that need not send every attribute. */
const partialOperations = versionedOperations.filter(({ name }) => name.startsWith("PATCH /admin/"));

test("every administrative PATCH is partial", () => {
  expect(partialOperations).toHaveLength(7);
});

for (const operation of partialOperations) {
  describe(`${operation.name}, which is partial`, () => {
    const attributes = operation.bodyFields
      .map(({ jsonName }) => jsonName)
      .filter((name) => name !== "expectedVersion");

    test.each(attributes)("changes only %s if nothing else is sent", async (name) => {
      const draft = await preparePartial(operation, name);
      const before = await readResource(service, operation, draft);
      service.advance(1_000);
      const value = draft.body[name] ?? null;
      if (name !== "recurrence") expect(before[name]).not.toEqual(value);
      const { body } = await sendRest(service, operation, draft, { body: { [name]: value, expectedVersion: 1 } });
      const { updatedAt } = body;
      const moved = "updatedAt" in before ? { updatedAt } : {};
      expect(body).toEqual({ ...before, [name]: value, version: 2, ...moved });
      if ("updatedAt" in before) expect(updatedAt).not.toBe(before["updatedAt"]);
      expect(await readResource(service, operation, draft)).toEqual(body);
    });

    test("changes nothing if only the version is sent, and is a conflict if the version is stale", async () => {
      const draft = await prepare(operation, service);
      const before = await readResource(service, operation, draft);
      service.advance(1_000);
      const answer = await sendRest(service, operation, draft, { body: { expectedVersion: 1 } });
      expect([answer.status, answer.body]).toEqual([200, before]);
      expect(await auditOf(service, answer)).toEqual([]);
      const stale = await sendRest(service, operation, draft, { body: { expectedVersion: 2 } });
      expect(summaryOf(stale)).toBe(STALE);
      expect(await readResource(service, operation, draft)).toEqual(before);
    });
  });
}

describe("PATCH /patients/{patientId}", () => {
  test("keeps the email if none is sent", async () => {
    const operation = operationNamed("UpdatePatient");
    const draft = await prepare(operation, service);
    const before = await readResource(service, operation, draft);
    const { email: _, ...body } = draft.body;
    const answer = await sendRest(service, operation, draft, { body });
    expect(answer.body["email"]).toBe(before["email"]);
  });
});

/** Returns the body's reference with an unknown id; empty if the body has no reference. */
function missingReference(operation: PublishedOperation, { body }: Draft): JsonObject {
  const field = Object.keys(referencesOf(operation)).find((name) => name in body);
  if (field === undefined) return {};
  return { [field]: Array.isArray(body[field]) ? [randomUUID()] : randomUUID() };
}

/** Returns a draft in which this attribute can be sent alone. */
async function preparePartial(operation: PublishedOperation, name: string): Promise<Draft> {
  const { path, body } = await prepare(operation, service);
  const alone: JsonObject = { endsAtLocal: "11:00:00", code: `Solo ${randomUUID()}` };
  return { path, body: { ...body, ...(name in alone ? { [name]: alone[name] ?? null } : {}) } };
}

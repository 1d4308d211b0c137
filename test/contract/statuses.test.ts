import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectInternalError, expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { prepare, prepareUnused, referencesOf } from "./operations.js";
import { implementedOperations, type PublishedOperation } from "./published-operations.js";
import { sendRest } from "./send.js";
import { differences } from "./shape.js";
import { resources } from "./specification.js";

/**
 * Operations that list 404 but refer to no resource that could be missing. An altered path would belong to no operation.
 */
const NOTHING_TO_MISS = [
  "POST /admin/configuration/cancellation-reasons",
  "POST /admin/configuration/request-sources",
  "POST /admin/configuration/payers",
  "POST /admin/configuration/scheduling/holidays",
];

/** Validity of an option token. */
const OPTION_LIFETIME_MS = 10 * 60_000;

/** Sends a request that provokes a status. */
type Cause = (operation: PublishedOperation) => Promise<RestAnswer>;

let service: TestService;
let limited: TestService;

beforeAll(async () => {
  [service, limited] = await Promise.all([startTestService(), startTestService({ RATE_LIMIT_PER_MINUTE: "1" })]);
});

afterAll(() => Promise.all([service.close(), limited.close()]));

const causes: Readonly<Record<number, { readonly name: string; readonly provoke: Cause }>> = {
  400: { name: "a body that is no JSON", provoke: (operation) => sendRefused(operation, { body: "{" }) },
  401: { name: "no token", provoke: (operation) => sendRefused(operation, { headers: { authorization: null } }) },
  403: { name: "a missing scope", provoke: (operation) => sendRefused(operation, { as: { scopes: [] } }) },
  404: { name: "a resource that does not exist", provoke: sendForMissing },
  409: { name: "another request under a used key", provoke: sendUnderUsedKey },
  410: { name: "an option whose time is over", provoke: sendTooLate },
  422: { name: "an unknown member", provoke: (operation) => sendRefused(operation, { body: { unknown: 1 } }) },
  429: { name: "a quota that is used up", provoke: sendTooOften },
  500: { name: "a table that is not there", provoke: sendWithoutAuditTable },
};

for (const operation of implementedOperations) {
  const { name, options } = operation;
  describe(name, () => {
    test(`answers ${options.successStatus} with its resource`, async () => {
      const answer = await sendWith(operation, {});
      expect(answer.status).toBe(options.successStatus);
      expect(differences(resources[operation.response.message.name] ?? {}, answer.body)).toEqual([]);
    });

    for (const status of options.errorStatuses) {
      if (status === 404 && NOTHING_TO_MISS.includes(name)) continue;
      const cause = causes[status];
      test(`answers ${status} for ${cause?.name}`, async () => {
        const answer = await cause?.provoke(operation);
        if (answer === undefined) throw new Error(`no request is known that causes ${status}`);
        if (status === 500) expectInternalError(answer);
        else expectProblem(answer, status);
      });
    }

    test("accepts a token that has only its scope", async () => {
      const answer = await sendWith(operation, { as: { scopes: [options.scope] } });
      expect(answer.status).toBe(options.successStatus);
    });

    test("rejects a token that has every other scope, and names the missing one", async () => {
      const scopes = service.scopes.filter((scope) => scope !== options.scope);
      const answer = await sendRefused(operation, { as: { scopes } });
      expectProblem(answer, 403);
      expect(answer.headers.get("www-authenticate")).toContain(`scope="${options.scope}"`);
    });

    test("rejects an expired token and a token for another audience", async () => {
      expectProblem(await sendRefused(operation, { as: { expiresInSeconds: -300 } }), 401);
      const authorization = `Bearer ${await service.forgeToken({ aud: "https://elsewhere.example.org" })}`;
      expectProblem(await sendRefused(operation, { headers: { authorization } }), 401);
    });

    test("requires an Idempotency-Key and a media type, and rejects any query", async () => {
      const noKey = await sendRefused(operation, { headers: { "idempotency-key": null } });
      expectProblem(noKey, 400, ["Idempotency-Key REQUIRED"]);
      expectProblem(await sendRefused(operation, { headers: { "content-type": "text/plain" } }), 400);
      const path = name.replace(/^\w+ /, "").replaceAll(/\{\w+\}/g, () => randomUUID());
      const query = await service.request(operation.httpMethod, `${path}?dryRun=true`, { body: {} });
      expectProblem(query, 400);
    });
  });
}

test("the operations without a test for 404 refer to no resource", () => {
  const naming = new Set(implementedOperations.filter((operation) => Object.keys(referencesOf(operation)).length > 0));
  const others = implementedOperations.filter((operation) => !naming.has(operation));
  const with404 = others.filter(({ options }) => options.errorStatuses.includes(404));
  expect(with404.map(({ name }) => name)).toEqual(NOTHING_TO_MISS);
});

async function sendWith(operation: PublishedOperation, changes: Parameters<typeof sendRest>[3]): Promise<RestAnswer> {
  return sendRest(service, operation, await prepare(operation, service), changes);
}

/** Sends a request with changes for which it is rejected. */
async function sendRefused(
  operation: PublishedOperation,
  changes: Parameters<typeof sendRest>[3],
): Promise<RestAnswer> {
  return sendRest(service, operation, await prepareUnused(operation, service), changes);
}

/** Sends unknown ids: in the path if it has ids, otherwise in the references of the body. */
async function sendForMissing(operation: PublishedOperation): Promise<RestAnswer> {
  const { path, body } = await prepareUnused(operation, service);
  if (Object.keys(path).length > 0) {
    const absent = Object.fromEntries(Object.keys(path).map((field) => [field, randomUUID()]));
    return sendRest(service, operation, { path: absent, body });
  }
  const absent = Object.fromEntries(Object.keys(referencesOf(operation)).map((field) => [field, randomUUID()]));
  return sendRest(service, operation, { path, body: { ...body, ...absent } });
}

async function sendUnderUsedKey(operation: PublishedOperation): Promise<RestAnswer> {
  const headers = { "idempotency-key": randomUUID() };
  const [first, second] = [await prepare(operation, service), await prepareUnused(operation, service)];
  await sendRest(service, operation, first, { headers });
  const answer = await sendRest(service, operation, second, { headers });
  expectProblem(answer, 409, ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"]);
  return answer;
}

async function sendTooLate(operation: PublishedOperation): Promise<RestAnswer> {
  const draft = await prepare(operation, service);
  service.advance(OPTION_LIFETIME_MS);
  return sendRest(service, operation, draft);
}

async function sendTooOften(operation: PublishedOperation): Promise<RestAnswer> {
  const as = { client: randomUUID() };
  const draft = {
    path: Object.fromEntries(operation.pathFields.map(({ jsonName }) => [jsonName, randomUUID()])),
    body: {},
  };
  expectProblem(await sendRest(limited, operation, draft, { as }), 422);
  const answer = await sendRest(limited, operation, draft, { as });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  return answer;
}

/**
 * Sends a request while the audit table is missing. Requires that the key is then free and that the operation succeeds
 * once the table is back.
 */
async function sendWithoutAuditTable(operation: PublishedOperation): Promise<RestAnswer> {
  const draft = await prepare(operation, service);
  const headers = { "idempotency-key": randomUUID() };
  await service.query("ALTER TABLE audit_events RENAME TO audit_events_away");
  try {
    return await sendRest(service, operation, draft, { headers });
  } finally {
    await service.query("ALTER TABLE audit_events_away RENAME TO audit_events");
    const again = await sendRest(service, operation, draft, { headers });
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([operation.options.successStatus, null]);
  }
}

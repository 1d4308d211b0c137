import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shareTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { prepare } from "./operations.js";
import { implementedOperations } from "./published-operations.js";
import { readResource, sendGrpc, sendRest, summaryOf } from "./send.js";

const DUPLICATE = "409 code DUPLICATE";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

const withCode = implementedOperations.filter(({ bodyFields }) => bodyFields.some(({ name }) => name === "code"));

for (const operation of withCode.filter(({ httpMethod }) => httpMethod === "POST")) {
  const create = async (code: string, as: TokenFor = {}) => {
    const draft = await prepare(operation, service, as);
    return summaryOf(await sendRest(service, operation, { ...draft, body: { ...draft.body, code } }, { as }));
  };

  describe(operation.name, () => {
    test("rejects a duplicate code, also over gRPC, and releases the key", async () => {
      const code = randomUUID();
      const headers = { "idempotency-key": randomUUID() };
      expect(await create(code)).toBe("201");
      const draft = await prepare(operation, service);
      const duplicate = { ...draft, body: { ...draft.body, code } };
      expect(summaryOf(await sendRest(service, operation, duplicate, { headers }))).toBe(DUPLICATE);
      expect(summaryOf(await sendGrpc(service, operation, duplicate))).toBe(DUPLICATE);
      expect(summaryOf(await sendRest(service, operation, draft, { headers }))).toBe("201");
    });

    test("accepts one of several concurrent requests with the same code", async () => {
      const code = randomUUID();
      const summaries = await Promise.all(Array.from({ length: 4 }, () => create(code)));
      expect(summaries.toSorted()).toEqual(["201", DUPLICATE, DUPLICATE, DUPLICATE]);
    });

    test("distinguishes upper and lower case", async () => {
      const code = `Código ${randomUUID()}`;
      expect([await create(code), await create(code.toUpperCase())]).toEqual(["201", "201"]);
    });

    test("is unique per tenant, organization and company; no organization or company is a value of its own", async () => {
      const code = randomUUID();
      const organizationId = randomUUID();
      const owners = [
        {},
        { organizationId },
        { organizationId, companyId: randomUUID() },
        { companyId: randomUUID() },
        { tenantId: randomUUID() },
      ];
      for (const owner of owners) {
        expect([await create(code, owner), await create(code, owner)]).toEqual(["201", DUPLICATE]);
      }
    });
  });
}

for (const operation of withCode.filter(({ httpMethod }) => httpMethod === "PATCH")) {
  describe(operation.name, () => {
    test("rejects the code of another resource and changes nothing", async () => {
      const [one, other] = [await prepare(operation, service), await prepare(operation, service)];
      const { code = null } = await readResource(service, operation, other);
      const before = await readResource(service, operation, one);
      const answer = await sendRest(service, operation, one, { body: { ...one.body, code } });
      expect(summaryOf(answer)).toBe(DUPLICATE);
      expect(await readResource(service, operation, one)).toEqual(before);
    });

    test("checks the version before the code", async () => {
      const [one, other] = [await prepare(operation, service), await prepare(operation, service)];
      const { code = null } = await readResource(service, operation, other);
      const answer = await sendRest(service, operation, one, { body: { code, expectedVersion: 2 } });
      expect(summaryOf(answer)).toBe("409 expectedVersion STALE_VERSION");
    });

    test("accepts the current code of the resource", async () => {
      const draft = await prepare(operation, service);
      const { code = null } = await readResource(service, operation, draft);
      const answer = await sendRest(service, operation, draft, { body: { code, expectedVersion: 1 } });
      expect([summaryOf(answer), answer.body["code"], answer.body["version"]]).toEqual(["200", code, 2]);
    });
  });
}

test("the codes of all catalogs and of programs are unique", () => {
  expect(withCode).toHaveLength(11);
});

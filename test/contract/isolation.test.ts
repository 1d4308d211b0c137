import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { shareTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import type { FixtureFactory } from "./fixtures.js";
import { type Draft, prepare, prepareUnused, referencesOf } from "./operations.js";
import { implementedOperations, operationNamed, type PublishedOperation } from "./published-operations.js";
import { readResource, sendGrpc, sendRest, summaryOf } from "./send.js";

/** Path ids that accept any text. A text that is not a UUID is an unknown id. */
const OPAQUE = new Set(["patientId", "appointmentId"]);

/** The same principal in all tests, so that its resources can be copied. */
const INSIDER = { organizationId: randomUUID(), companyId: randomUUID() };
const OUTSIDERS = {
  tenant: { ...INSIDER, tenantId: randomUUID() },
  organization: { ...INSIDER, organizationId: randomUUID() },
  company: { ...INSIDER, companyId: randomUUID() },
};

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

for (const operation of implementedOperations) {
  const references = Object.entries(referencesOf(operation));
  const inPath = references.filter(([field]) => isInPath(operation, field));
  const inBody = references.filter(([field]) => !isInPath(operation, field));
  if (references.length === 0) continue;
  describe(operation.name, () => {
    for (const [field, maker] of inPath) {
      test(`${field}: answers the same for a hidden and an unknown id, and leaves the hidden resource unchanged`, async () => {
        await expectHidden(operation, field, maker, "404");
      });

      const isOpaque = OPAQUE.has(field);
      test(
        isOpaque ? `${field}: 404 for a text that is not a UUID` : `${field}: 400 for a text that is not a UUID`,
        async () => {
          const draft = await prepareUnused(operation, service);
          for (const text of ["42", "a%2Fb", "%0A", "%00"]) {
            const answer = await sendRest(service, operation, put(operation, draft, field, text));
            if (isOpaque) expectProblem(answer, 404);
            else expectProblem(answer, 400, [`${field} ${text === "%00" ? "INVALID_VALUE" : "INVALID_UUID"}`]);
          }
        },
      );
    }

    for (const [field, maker] of inBody) {
      const status = operation.options.errorStatuses.includes(404) ? 404 : 422;
      test(`${field}: ${status} for a hidden id as for an unknown one`, async () => {
        await expectHidden(operation, field, maker, `${status} ${itemField(operation, field)} NOT_FOUND`);
      });
    }

    test.each(references)("accepts a %s in upper case", async (field) => {
      const draft = await prepare(operation, service);
      const id = (draft.path[field] ?? draft.body[field]) as string | string[];
      const upper = Array.isArray(id) ? id.map((each) => each.toUpperCase()) : id.toUpperCase();
      const answer = await sendRest(service, operation, put(operation, draft, field, upper));
      expect(answer.status).toBe(operation.options.successStatus);
      expect(answer.text).not.toContain(String(upper));
    });

    const narrow = inBody.filter(([, { belongsTo }]) => belongsTo === "organization" && inPath.length > 0);
    test.each(narrow)(
      "%s: 404 if some principals that can see the resource of the path cannot see it",
      async (field, maker) => {
        const as = INSIDER;
        const whole = await prepare(operation, service);
        for (const owner of [as, { organizationId: as.organizationId }, { companyId: as.companyId }]) {
          const draft = put(operation, whole, field, await maker.create(service, owner));
          const headers = { "x-correlation-id": randomUUID() };
          const answer = await sendRest(service, operation, draft, { as, headers });
          expect(summaryOf(answer)).toBe(`404 ${itemField(operation, field)} NOT_FOUND`);
          const absent = put(operation, whole, field, randomUUID());
          expect(comparable(answer)).toEqual(comparable(await sendRest(service, operation, absent, { as, headers })));
        }
      },
    );

    const shared = references.filter(([, { belongsTo }]) => belongsTo === "organization");
    test.each(shared)("accepts a %s that belongs to the whole tenant", async (field, maker) => {
      const as = INSIDER;
      const whole = await prepare(operation, service);
      const own = await prepare(operation, service, as);
      const draft = isInPath(operation, field) ? whole : put(operation, own, field, await maker.create(service, {}));
      const answer = await sendRest(service, operation, draft, { as });
      expect(answer.status).toBe(operation.options.successStatus);
    });
  });
}

describe("PATCH /admin/configuration/scheduling/programs/{programId}/rules/{ruleId}", () => {
  test("answers the same for a rule of another program and an unknown rule", async () => {
    const operation = operationNamed("UpdateProgramRule");
    const headers = { "x-correlation-id": randomUUID() };
    const [one, other] = [await prepare(operation, service), await prepare(operation, service)];
    const absent = await sendRest(service, operation, put(operation, one, "ruleId", randomUUID()), { headers });
    const elsewhere = put(operation, one, "ruleId", `${other.path["ruleId"]}`);
    expectProblem(absent, 404);
    expect((await sendRest(service, operation, elsewhere, { headers })).text).toBe(absent.text);
  });
});

/** Requires the same answer for an unknown id and for ids of resources that are hidden from the token. */
async function expectHidden(
  operation: PublishedOperation,
  field: string,
  maker: FixtureFactory,
  summary: string,
): Promise<void> {
  const as = INSIDER;
  const headers = { "x-correlation-id": randomUUID() };
  const draft = await prepare(operation, service, as);
  const send = (id: string) => sendRest(service, operation, put(operation, draft, field, id), { as, headers });
  const absent = await send(randomUUID());
  expect(summaryOf(absent)).toBe(summary);
  for (const owner of ownersOf(maker)) {
    const hidden = await maker.create(service, owner);
    expect(comparable(await send(hidden))).toEqual(comparable(absent));
    const overGrpc = await sendGrpc(service, operation, put(operation, draft, field, hidden), { as, headers });
    expect(overGrpc.body).toEqual(absent.body);
  }
  await expectUntouched(operation, maker, field, ownersOf(maker));
  expect((await sendRest(service, operation, draft, { as })).status).toBe(operation.options.successStatus);
}

/** Requires that a request that refers only to resources of another principal has no effect. */
async function expectUntouched(
  operation: PublishedOperation,
  maker: FixtureFactory,
  field: string,
  owners: readonly TokenFor[],
): Promise<void> {
  if (!isInPath(operation, field) || maker.belongsTo === "tenant") return;
  for (const owner of owners) {
    const theirs = await prepare(operation, service, owner);
    const before = await readResource(service, operation, theirs, owner);
    const stranger = { organizationId: randomUUID(), companyId: randomUUID() };
    expectProblem(await sendRest(service, operation, theirs, { as: stranger }), 404);
    expect(await readResource(service, operation, theirs, owner)).toEqual(before);
  }
}

function ownersOf({ belongsTo }: FixtureFactory): readonly TokenFor[] {
  const { tenant, ...others } = OUTSIDERS;
  return belongsTo === "tenant" ? [tenant] : [tenant, ...Object.values(others)];
}

/** Returns the draft with this id in the field. An id for a list is appended. */
function put(operation: PublishedOperation, draft: Draft, field: string, id: string | readonly string[]): Draft {
  if (isInPath(operation, field)) return { ...draft, path: { ...draft.path, [field]: String(id) } };
  const old = draft.body[field];
  if (!Array.isArray(old)) return { ...draft, body: { ...draft.body, [field]: String(id) } };
  return { ...draft, body: { ...draft.body, [field]: typeof id === "string" ? [...old, id] : [...id] } };
}

function itemField({ bodyFields }: PublishedOperation, field: string): string {
  return bodyFields.some(({ jsonName, fieldKind }) => jsonName === field && fieldKind === "list")
    ? `${field}[1]`
    : field;
}

function isInPath({ pathFields }: PublishedOperation, field: string): boolean {
  return pathFields.some(({ jsonName }) => jsonName === field);
}

/** Returns the parts of an answer that must be equal: everything but the time and the quota. */
function comparable({ status, text, headers }: RestAnswer) {
  const { date: _date, ratelimit: _quota, ...rest } = Object.fromEntries(headers);
  return { status, text, rest };
}

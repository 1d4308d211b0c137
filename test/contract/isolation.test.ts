import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import type { Maker } from "./makers.js";
import { type Draft, prepare, prepareUnused, referencesOf } from "./operations.js";
import { implementedOperations, operationNamed, type PublishedOperation } from "./published-operations.js";
import { readResource, sendGrpc, sendRest, summaryOf } from "./send.js";

/** Path ids that callers have to take as they are, so that one of another form is one that does not exist. */
const OPAQUE = new Set(["patientId", "appointmentId"]);

/** The same ones in all tests, so that what they only refer to can be copied. */
const INSIDER = { organizationId: randomUUID(), companyId: randomUUID() };
const OUTSIDERS = {
  tenant: { ...INSIDER, tenantId: randomUUID() },
  organization: { ...INSIDER, organizationId: randomUUID() },
  company: { ...INSIDER, companyId: randomUUID() },
};

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

for (const operation of implementedOperations) {
  const references = Object.entries(referencesOf(operation));
  const inPath = references.filter(([field]) => isInPath(operation, field));
  const inBody = references.filter(([field]) => !isInPath(operation, field));
  if (references.length === 0) continue;
  describe(operation.name, () => {
    for (const [field, maker] of inPath) {
      test(`${field}: does not tell what is hidden from what never existed, and leaves it as it is`, async () => {
        await expectHidden(operation, field, maker, "404");
      });

      const isOpaque = OPAQUE.has(field);
      test(
        isOpaque ? `${field}: what is no UUID does not exist` : `${field}: what is no UUID is no request`,
        async () => {
          const draft = await prepareUnused(operation, service);
          const answer = await sendRest(service, operation, put(operation, draft, field, "42"));
          if (isOpaque) expectProblem(answer, 404);
          else expectProblem(answer, 400, [`${field} INVALID_UUID`]);
        },
      );
    }

    for (const [field, maker] of inBody) {
      const status = operation.options.errorStatuses.includes(404) ? 404 : 422;
      test(`${field}: ${status} for what is hidden as for what never existed`, async () => {
        await expectHidden(operation, field, maker, `${status} ${itemField(operation, field)} NOT_FOUND`);
      });
    }

    test.each(references)("takes a %s in upper case", async (field) => {
      const draft = await prepare(operation, service);
      const id = (draft.path[field] ?? draft.body[field]) as string | string[];
      const upper = Array.isArray(id) ? id.map((each) => each.toUpperCase()) : id.toUpperCase();
      const answer = await sendRest(service, operation, put(operation, draft, field, upper));
      expect(answer.status).toBe(operation.options.successStatus);
      expect(answer.text).not.toContain(String(upper));
    });

    const narrow = inBody.filter(([, { belongsTo }]) => belongsTo === "organization" && inPath.length > 0);
    test.each(narrow)("%s: 404 for what not everybody sees who sees the resource of the path", async (field, maker) => {
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
    });

    const shared = references.filter(([, { belongsTo }]) => belongsTo === "organization");
    test.each(shared)("sees a %s that belongs to the tenant as a whole", async (field, maker) => {
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
  test("answers for a rule of another program as for one that never existed", async () => {
    const operation = operationNamed("UpdateProgramRule");
    const headers = { "x-correlation-id": randomUUID() };
    const [one, other] = [await prepare(operation, service), await prepare(operation, service)];
    const absent = await sendRest(service, operation, put(operation, one, "ruleId", randomUUID()), { headers });
    const elsewhere = put(operation, one, "ruleId", `${other.path["ruleId"]}`);
    expectProblem(absent, 404);
    expect((await sendRest(service, operation, elsewhere, { headers })).text).toBe(absent.text);
  });
});

/** Requires one answer for an id that never existed and for those of resources that the token must not see. */
async function expectHidden(
  operation: PublishedOperation,
  field: string,
  maker: Maker,
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

/** Requires that a whole request for what another principal has, ids that fit together included, is not done. */
async function expectUntouched(
  operation: PublishedOperation,
  maker: Maker,
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

function ownersOf({ belongsTo }: Maker): readonly TokenFor[] {
  const { tenant, ...others } = OUTSIDERS;
  return belongsTo === "tenant" ? [tenant] : [tenant, ...Object.values(others)];
}

/** The draft with this id in place of the field's; in a list, behind the one that is there. */
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

/** What must not differ: everything but the moment and the quota. */
function comparable({ status, text, headers }: RestAnswer) {
  const { date: _date, ratelimit: _quota, ...rest } = Object.fromEntries(headers);
  return { status, text, rest };
}

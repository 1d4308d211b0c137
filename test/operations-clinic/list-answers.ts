import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { auditOf } from "../support/audit.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { summary, withoutScope } from "./resource-answers.js";
import {
  idOf,
  memberNamed,
  provideResource,
  type ResourceBody,
  type ResourceUnderTest,
  rpcNamed,
  withId,
} from "./resources-under-test.js";
import { expectTokenIsBound, itemsIn, walkPages } from "./rpc-under-test.js";

/** Describes how resources of a type are listed. `serviceOf` is called within tests. */
export function describeList(resource: ResourceUnderTest, serviceOf: () => TestService): void {
  const method = rpcNamed(`List${resource.plural}`);
  const member = memberNamed(resource.plural);
  const list = (request: JsonObject, changes?: RpcChanges) => callRpc(serviceOf(), method, request, changes);
  const walk = async (request: JsonObject & { readonly pageSize: number }, as: TokenFor) =>
    (await walkPages(serviceOf(), method, member, request, { as })).flat().map(withId);
  const createSeveral = async (count: number, as: TokenFor, attributes: JsonObject = {}) => {
    const all = Array.from({ length: count }, () => provideResource(serviceOf(), resource, attributes, as));
    return (await Promise.all(all)).toSorted(byId);
  };

  describe(method.name, () => {
    test("returns all resources page by page, each once, ordered by id", async () => {
      const as = { tenantId: randomUUID() };
      const created = await createSeveral(5, as);
      expect(await walk({ pageSize: 2 }, as)).toEqual(created);
      expect(await walk({ pageSize: 5 }, as)).toEqual(created);
      expect(await walk({ pageSize: 0 }, as)).toEqual(created);
      expect((await list({ pageSize: 5 }, { as })).body).toMatchObject({ nextPageToken: "" });
    });

    test("continues after the last page with another page size, despite resources added meanwhile", async () => {
      const as = { tenantId: randomUUID() };
      const created = await createSeveral(3, as);
      const first = await list({ pageSize: 1 }, { as });
      const late = await createSeveral(1, as);
      const rest = await list({ pageSize: 200, pageToken: tokenIn(first) }, { as });
      expect([first, rest].flatMap((answer) => itemsIn(answer, member).map(withId))).toEqual([...created, ...late]);
    });

    test("returns only resources that match the filters, on every page", async () => {
      const as = { tenantId: randomUUID() };
      const [inactive, active] = await Promise.all([createSeveral(3, as, { active: false }), createSeveral(2, as)]);
      expect(await walk({ active: false, pageSize: 2 }, as)).toEqual(inactive);
      expect(await walk({ active: true, pageSize: 1 }, as)).toEqual(active);
      const [{ code }] = active as [ResourceBody];
      expect(await walk({ code, pageSize: 1 }, as)).toEqual(active.slice(0, 1));
      expect(await walk({ code, active: true, pageSize: 1 }, as)).toEqual(active.slice(0, 1));
      expect(await walk({ code, active: false, pageSize: 1 }, as)).toEqual([]);
      expect(await walk({ code: code.toUpperCase(), pageSize: 1 }, as)).toEqual([]);
    });

    test("returns nothing of another tenant, organization or company", async () => {
      const tenantId = randomUUID();
      const [a, b, x] = [randomUUID(), randomUUID(), randomUUID()];
      const owners = [{}, { organizationId: a }, { organizationId: a, companyId: x }, { organizationId: b }];
      const created = owners.map((owner) => provideResource(serviceOf(), resource, {}, { tenantId, ...owner }));
      const ids = (await Promise.all(created)).map(({ id }) => id);
      const seenBy = async (as: TokenFor) => {
        const seen = new Set(itemsIn(await list({}, { as }), member).map(idOf));
        return ids.flatMap((id, i) => (seen.delete(id) ? [i] : [])).concat(Array.from(seen, () => -1));
      };
      expect(await seenBy({ tenantId })).toEqual([0]);
      expect(await seenBy({ tenantId, organizationId: a })).toEqual([0, 1]);
      expect(await seenBy({ tenantId, organizationId: a, companyId: x })).toEqual([0, 1, 2]);
      expect(await seenBy({ tenantId, organizationId: b, companyId: x })).toEqual([0, 3]);
      expect(await seenBy({ tenantId: randomUUID(), organizationId: a, companyId: x })).toEqual([]);
    });

    test("rejects a page token of another filter, list or client, and an invalid one", async () => {
      const as = { tenantId: randomUUID() };
      await createSeveral(2, as);
      const request = { active: true };
      for (const other of [{}, { active: false }, { active: true, code: "42" }]) {
        await expectTokenIsBound(serviceOf(), method, { request, other }, { as });
      }
      const pageToken = tokenIn(await list({ pageSize: 1 }, { as }));
      const otherList = rpcNamed(resource.type === "Payer" ? "ListLocations" : "ListPayers");
      const refused = await callRpc(serviceOf(), otherList, { pageToken }, { as });
      expect(summary(refused)).toBe("422 pageToken INVALID_VALUE");
      const ofAnother = await list({ pageToken }, { as: { ...as, client: "another-client" } });
      expect(summary(ofAnother)).toBe("422 pageToken INVALID_VALUE");
    });

    test("requires its scope but no idempotency key, and writes nothing", async () => {
      expect(summary(await list({}, { as: withoutScope(serviceOf(), method) }))).toBe("403");
      const answer = await list({}, { headers: { "idempotency-key": "" } });
      expect([answer.status, await auditOf(serviceOf(), answer)]).toEqual([200, []]);
    });
  });
}

/** Compares two items by id, for sorting. */
export function byId(a: Pick<ResourceBody, "id">, b: Pick<ResourceBody, "id">): number {
  return a.id < b.id ? -1 : 1;
}

/** Returns the next page token in an answer. Throws if there is none. */
function tokenIn({ body, text }: RestAnswer): string {
  const token = body["nextPageToken"];
  if (typeof token !== "string") throw new Error(`another page was expected, but the answer is ${text}`);
  return token;
}

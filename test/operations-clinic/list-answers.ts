import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import type { TestService, TokenFor } from "../support/service.js";
import { summary, withoutScope } from "./resource-answers.js";
import { createResource, memberNamed, type ResourceUnderTest, rpcNamed } from "./resources-under-test.js";

/** Describes how resources of a kind are listed. `serviceOf` is called within tests. */
export function describeList(resource: ResourceUnderTest, serviceOf: () => TestService): void {
  const method = rpcNamed(`List${resource.plural}`);
  const list = (request: JsonObject, changes?: RpcChanges) => callRpc(serviceOf(), method, request, changes);
  const pageOf = async (request: JsonObject, as: TokenFor) => {
    const { body, text } = await list(request, { as });
    const rows = body[memberNamed(resource.plural)];
    if (rows === undefined) throw new Error(`a page was expected, but the answer is ${text}`);
    return { rows: rows as JsonObject[], nextPageToken: String(body["nextPageToken"] ?? "") };
  };
  const walk = async (request: JsonObject, as: TokenFor) => {
    const pages: JsonObject[][] = [];
    let pageToken = "";
    do {
      const page = await pageOf({ ...request, pageToken }, as);
      pages.push(page.rows);
      pageToken = page.nextPageToken;
    } while (pageToken !== "" && pages.length < 20);
    return pages;
  };
  const createSeveral = async (count: number, as: TokenFor, attributes: JsonObject = {}) => {
    const created: JsonObject[] = [];
    for (let i = 0; i < count; i++) created.push(await createResource(serviceOf(), resource, attributes, as));
    return created.toSorted((a, b) => (String(a["id"]) < String(b["id"]) ? -1 : 1));
  };

  describe(method.name, () => {
    test("gives all resources page by page, each once, by their ids", async () => {
      const as = { tenantId: randomUUID() };
      const created = await createSeveral(5, as);
      const pages = await walk({ pageSize: 2 }, as);
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(created);
      expect(await walk({ pageSize: 5 }, as)).toEqual([created]);
      expect(await walk({}, as)).toEqual([created]);
    });

    test("goes on where a page ended, whatever was added and changed meanwhile, with pages of another size", async () => {
      const as = { tenantId: randomUUID() };
      const created = await createSeveral(3, as);
      const first = await pageOf({ pageSize: 1 }, as);
      const [late] = await createSeveral(1, as);
      const { rows, nextPageToken } = await pageOf({ pageSize: 200, pageToken: first.nextPageToken }, as);
      expect([...first.rows, ...rows]).toEqual([...created, late]);
      expect(nextPageToken).toBe("");
    });

    test("gives those alone that a filter lets through, on every page", async () => {
      const as = { tenantId: randomUUID() };
      const inactive = await createSeveral(3, as, { active: false });
      const active = await createSeveral(2, as);
      expect((await walk({ active: false, pageSize: 2 }, as)).flat()).toEqual(inactive);
      expect((await walk({ active: true, pageSize: 1 }, as)).flat()).toEqual(active);
      const { code = null } = active[1] ?? {};
      expect(await walk({ code }, as)).toEqual([[active[1]]]);
      expect(await walk({ code, active: true }, as)).toEqual([[active[1]]]);
      expect(await walk({ code, active: false }, as)).toEqual([[]]);
      expect(await walk({ code: String(code).toUpperCase() }, as)).toEqual([[]]);
    });

    test("gives what belongs to nobody else: no other tenant, organization or company", async () => {
      const tenantId = randomUUID();
      const [a, b, x] = [randomUUID(), randomUUID(), randomUUID()];
      const owners = [{}, { organizationId: a }, { organizationId: a, companyId: x }, { organizationId: b }];
      const ids: unknown[] = [];
      for (const owner of owners)
        ids.push((await createResource(serviceOf(), resource, {}, { tenantId, ...owner }))["id"]);
      const seenBy = async (as: TokenFor) => {
        const seen = (await pageOf({}, as)).rows.map(({ id }) => ids.indexOf(id));
        return seen.toSorted((one, other) => one - other);
      };
      expect(await seenBy({ tenantId })).toEqual([0]);
      expect(await seenBy({ tenantId, organizationId: a })).toEqual([0, 1]);
      expect(await seenBy({ tenantId, organizationId: a, companyId: x })).toEqual([0, 1, 2]);
      expect(await seenBy({ tenantId, organizationId: b, companyId: x })).toEqual([0, 3]);
      expect(await seenBy({ tenantId: randomUUID(), organizationId: a, companyId: x })).toEqual([]);
    });

    test("refuses a token that is not its own, or for another filter", async () => {
      const as = { tenantId: randomUUID() };
      await createSeveral(2, as);
      const { nextPageToken } = await pageOf({ pageSize: 1, active: true }, as);
      expect(summary(await list({ pageToken: nextPageToken, active: true }, { as }))).toBe("200");
      const [fingerprint] = JSON.parse(Buffer.from(nextPageToken, "base64url").toString());
      const madeUp = [[fingerprint], [fingerprint, "42"], [fingerprint, ""], ["", randomUUID()], { fingerprint }, 42];
      const tokens = madeUp.map((parts) => Buffer.from(JSON.stringify(parts)).toString("base64url"));
      for (const pageToken of [...tokens, "42", "ñ", "\u0000", nextPageToken.slice(1)]) {
        expect(summary(await list({ pageToken, active: true }, { as }))).toBe("422 pageToken INVALID_VALUE");
      }
      for (const filter of [{}, { active: false }, { active: true, code: "42" }]) {
        const answer = await list({ pageToken: nextPageToken, ...filter }, { as });
        expect(summary(answer)).toBe("422 pageToken INVALID_VALUE");
      }
    });

    test("refuses the token of another list", async () => {
      const as = { tenantId: randomUUID() };
      await createSeveral(2, as);
      const { nextPageToken: pageToken } = await pageOf({ pageSize: 1 }, as);
      const other = rpcNamed(resource.type === "Payer" ? "ListLocations" : "ListPayers");
      expect(summary(await callRpc(serviceOf(), other, { pageToken }, { as }))).toBe("422 pageToken INVALID_VALUE");
    });

    test("refuses pages of more than 200 or fewer than none, and takes 0 for 50", async () => {
      const as = { tenantId: randomUUID() };
      expect(summary(await list({ pageSize: 201 }, { as }))).toBe("422 pageSize OUT_OF_RANGE");
      expect(summary(await list({ pageSize: -1 }, { as }))).toBe("422 pageSize OUT_OF_RANGE");
      expect(await pageOf({ pageSize: 0 }, as)).toEqual({ rows: [], nextPageToken: "" });
    });

    test("needs its scope, no idempotency key, and leaves no trace", async () => {
      expect(summary(await list({}, { as: withoutScope(serviceOf(), method) }))).toBe("403");
      const answer = await list({}, { headers: { "idempotency-key": "" } });
      expect([answer.status, await auditOf(serviceOf(), answer)]).toEqual([200, []]);
    });
  });
}

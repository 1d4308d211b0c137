import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import type { TestService } from "../support/service.js";

/** An RPC under test, and how to make requests that it accepts. */
export interface RpcUnderTest {
  readonly method: DescMethodUnary;
  /** The scope that the RPC requires. */
  readonly scope: string;
  /** The request member with the id of the resource, if the RPC is about one. */
  readonly id?: string;
  /** Returns a new request that succeeds once in the service's own tenant. */
  prepare(service: TestService): Promise<JsonObject>;
}

/** An item of a list, as JSON. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * Describes the access to an RPC about resources of the whole tenant. It accepts tokens with its scope of any
 * organization and company. It answers for another tenant's resources as for unknown ones.
 */
export function describeAccess({ method, scope, id, prepare }: RpcUnderTest, serviceOf: () => TestService): void {
  const send = async (changes: RpcChanges) => callRpc(serviceOf(), method, await prepare(serviceOf()), changes);
  let made: Promise<JsonObject> | undefined;
  const unused = () => (made ??= prepare(serviceOf()));

  describe("access", () => {
    test("rejects a token without the scope, and accepts one with no other scope", async () => {
      const scopes = serviceOf().scopes.filter((other) => other !== scope);
      expectRefusal(await callRpc(serviceOf(), method, await unused(), { as: { scopes } }), 403);
      expect((await send({ as: { scopes: [scope] } })).status).toBe(200);
    });

    test("accepts each organization and company of the tenant", async () => {
      const as = { organizationId: randomUUID(), companyId: randomUUID() };
      expect((await send({ as })).status).toBe(200);
    });

    if (id !== undefined) describeId({ method, id, unused }, serviceOf);
  });
}

/** An RPC, and a request that rejected calls leave unused. */
interface RefusedRpc extends Required<Pick<RpcUnderTest, "method" | "id">> {
  unused(): Promise<JsonObject>;
}

function describeId({ method, id, unused }: RefusedRpc, serviceOf: () => TestService): void {
  test("returns the same answer for another tenant's resource and an unknown one", async () => {
    const headers = { "x-correlation-id": randomUUID() };
    const as = { tenantId: randomUUID() };
    const request = await unused();
    const never = { ...request, [id]: randomUUID() };
    expectRefusal(await callRpc(serviceOf(), method, never), 404);
    const absent = await callRpc(serviceOf(), method, never, { headers, as });
    const foreign = await callRpc(serviceOf(), method, request, { headers, as });
    expectRefusal(absent, 404);
    expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
  });

  test("rejects an invalid id", async () => {
    const answer = await callRpc(serviceOf(), method, { ...(await unused()), [id]: "42" });
    expectRefusal(answer, 422, [`${id} INVALID_UUID`]);
  });
}

/** Requires a rejection with these field errors, each `field CODE`. */
export function expectRefusal(answer: RestAnswer, status: number, items: readonly string[] = []): void {
  expect({ status: answer.status, items: itemsOf(answer) }).toEqual({ status, items });
}

/** Returns all items of a list, page by page. Requires that all pages but the last are full. */
export async function walkPages(
  service: TestService,
  method: DescMethodUnary,
  member: string,
  request: JsonObject & { readonly pageSize: number },
  changes?: RpcChanges,
): Promise<Item[][]> {
  const pages: Item[][] = [];
  let pageToken = "";
  do {
    const answer = await callRpc(service, method, { ...request, pageToken }, changes);
    pages.push(itemsIn(answer, member));
    pageToken = nextPageToken(answer);
  } while (pageToken !== "");
  for (const page of pages.slice(0, -1)) expect(page).toHaveLength(request.pageSize);
  return pages;
}

/** Returns the items of a list in an answer. */
export function itemsIn(answer: RestAnswer, member: string): Item[] {
  expect(answer.status).toBe(200);
  return answer.body[member] as Item[];
}

/** Returns the ids of items, which are their first members. */
export function idsOf(items: readonly Item[]): unknown[] {
  return items.map((item) => Object.values(item)[0]);
}

/**
 * Requires that a page token is rejected, without an internal error, for other filters and after any alteration. The
 * request must match more than one item.
 */
export async function expectTokenIsBound(
  service: TestService,
  method: DescMethodUnary,
  { request, other }: { readonly request: JsonObject; readonly other: JsonObject },
  changes?: RpcChanges,
): Promise<void> {
  const first = await callRpc(service, method, { ...request, pageSize: 1 }, changes);
  const pageToken = nextPageToken(first);
  const second = await callRpc(service, method, { ...request, pageSize: 2, pageToken }, changes);
  expect(second.status).toBe(200);
  const invalid = ["pageToken INVALID_VALUE"];
  expectRefusal(await callRpc(service, method, { ...other, pageToken }, changes), 422, invalid);
  for (const as of [{ tenantId: randomUUID() }, { ...changes?.as, organizationId: randomUUID() }]) {
    expectRefusal(await callRpc(service, method, { ...request, pageToken }, { ...changes, as }), 422, invalid);
  }
  for (const altered of [
    pageToken.slice(1),
    withOther(pageToken, 200),
    withOther(pageToken, 0),
    UNSEALED,
    "e30",
    "?",
  ]) {
    expectRefusal(await callRpc(service, method, { ...request, pageToken: altered }, changes), 422, invalid);
  }
}

/** The plaintext of a token, which anybody could write. */
const UNSEALED = '["fingerprint","-271821-04-20T00:00:00.000Z","00000000-0000-4000-8000-000000000000"]';

/** Returns the next page token. Empty on the last page. */
function nextPageToken({ body }: RestAnswer): string {
  return (body["nextPageToken"] as string | undefined) ?? "";
}

/** Replaces one character of the token. */
function withOther(token: string, index: number): string {
  return `${token.slice(0, index)}${token[index] === "A" ? "B" : "A"}${token.slice(index + 1)}`;
}

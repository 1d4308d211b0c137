import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import type { TestService } from "../support/service.js";

/** An RPC, and how to make requests that it accepts. */
export interface RpcUnderTest {
  readonly method: DescMethodUnary;
  /** The scope that it needs. */
  readonly scope: string;
  /** The member of the request that names what it is about, where it is one resource by its id. */
  readonly id?: string;
  /** A request that succeeds once in the service's own tenant; each call another. */
  prepare(service: TestService): Promise<JsonObject>;
}

/** What there is in a list, as JSON. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * Describes whom an RPC about resources of the tenant as a whole serves: a token with its scope, of any organization and
 * company of the tenant; and that what is another tenant's cannot be told from what never existed.
 */
export function describeAccess({ method, scope, id, prepare }: RpcUnderTest, serviceOf: () => TestService): void {
  const send = async (changes: RpcChanges) => callRpc(serviceOf(), method, await prepare(serviceOf()), changes);
  let made: Promise<JsonObject> | undefined;
  const unused = () => (made ??= prepare(serviceOf()));

  describe("access", () => {
    test("refuses a token without the scope, and is content with one that has no other", async () => {
      const scopes = serviceOf().scopes.filter((other) => other !== scope);
      expectRefusal(await callRpc(serviceOf(), method, await unused(), { as: { scopes } }), 403);
      expect((await send({ as: { scopes: [scope] } })).status).toBe(200);
    });

    test("serves every organization and company of the tenant", async () => {
      const as = { organizationId: randomUUID(), companyId: randomUUID() };
      expect((await send({ as })).status).toBe(200);
    });

    if (id !== undefined) describeId({ method, id, unused }, serviceOf);
  });
}

/** An RPC, and a request of it that refusals leave as it is. */
interface RefusedRpc extends Required<Pick<RpcUnderTest, "method" | "id">> {
  unused(): Promise<JsonObject>;
}

function describeId({ method, id, unused }: RefusedRpc, serviceOf: () => TestService): void {
  test("does not tell another tenant's from what never existed", async () => {
    const headers = { "x-correlation-id": randomUUID() };
    const as = { tenantId: randomUUID() };
    const request = await unused();
    const absent = await callRpc(serviceOf(), method, { ...request, [id]: randomUUID() }, { headers });
    const foreign = await callRpc(serviceOf(), method, request, { headers, as });
    expectRefusal(absent, 404);
    expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
  });

  test("refuses an id that is none", async () => {
    const answer = await callRpc(serviceOf(), method, { ...(await unused()), [id]: "42" });
    expectRefusal(answer, 422, [`${id} INVALID_UUID`]);
  });
}

/** Requires an answer to be a refusal with these field-level errors, each `field CODE`. */
export function expectRefusal(answer: RestAnswer, status: number, items: readonly string[] = []): void {
  expect({ status: answer.status, items: itemsOf(answer) }).toEqual({ status, items });
}

/** The pages of a list from the first to the last, `member` by `member`. Requires that all but the last are full. */
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

/** The items of a list in an answer. */
export function itemsIn(answer: RestAnswer, member: string): Item[] {
  expect(answer.status).toBe(200);
  return answer.body[member] as Item[];
}

/** The ids of items, each of which has its own id before all else. */
export function idsOf(items: readonly Item[]): unknown[] {
  return items.map((item) => Object.values(item)[0]);
}

/**
 * Requires that a page token is refused, without an internal error, for other filters and where it was altered. The
 * request has more than one item.
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

/** What is sealed in a token, in a form that anybody could write. */
const UNSEALED = '["fingerprint","-271821-04-20T00:00:00.000Z","00000000-0000-4000-8000-000000000000"]';

/** Empty on the last page. */
function nextPageToken({ body }: RestAnswer): string {
  return (body["nextPageToken"] as string | undefined) ?? "";
}

/** The token with another character at a place. */
function withOther(token: string, index: number): string {
  return `${token.slice(0, index)}${token[index] === "A" ? "B" : "A"}${token.slice(index + 1)}`;
}

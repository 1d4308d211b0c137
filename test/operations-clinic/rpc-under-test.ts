import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import type { TestService } from "../support/service.js";

/** An item of a list, as JSON. */
export type Item = Readonly<Record<string, unknown>>;

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

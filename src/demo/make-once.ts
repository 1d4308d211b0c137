import { ConnectError } from "@connectrpc/connect";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";

/** Maps codes to ids. */
export type Ids = ReadonlyMap<string, string>;

/** The functions that create and find items of one kind. Both return ids. */
export interface Kind<T> {
  readonly create: (thing: T) => Promise<string | undefined>;
  readonly list: (filter: { readonly code: string }) => Promise<readonly string[]>;
}

/**
 * Error codes for an item that already exists. DUPLICATE: its id, code or identity document is already in use.
 * STALE_VERSION: the services or practitioners of the program were already set. RULE_OVERLAP: the rule was already
 * created.
 */
const THERE: ReadonlySet<string | undefined> = new Set(["DUPLICATE", "STALE_VERSION", "RULE_OVERLAP"]);

/**
 * Creates items in order and returns their ids by code. If an item already exists, looks up its id by its code. So an
 * interrupted filling can start again, even if the service has purged the idempotency keys. Rejects if the lookup finds
 * no item, or if a call fails for another reason.
 */
export async function makeOnce<T extends { readonly code: string }>(
  things: readonly T[],
  { create, list }: Kind<T>,
): Promise<Ids> {
  const ids = new Map<string, string>();
  for (const thing of things) {
    const id = (await unlessThere(create(thing))) ?? (await list({ code: thing.code }))[0];
    if (id === undefined) throw new Error(`${thing.code} already exists with another code, or the demo may not see it`);
    ids.set(thing.code, id);
  }
  return ids;
}

/** Returns the id of the item with this code. Throws if the demo's data has no such item. */
export function idOf(ids: Ids, code: string): string {
  const id = ids.get(code);
  if (id === undefined) throw new Error(`the demo's data has no item with the code ${code}`);
  return id;
}

/**
 * Resolves to the result of the call. Resolves to undefined if the first error of the call shows that the item was
 * already made ({@link THERE}). Rejects with any other error of the call.
 */
export async function unlessThere<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const [problem] = error instanceof ConnectError ? error.findDetails(ProblemSchema) : [];
    if (THERE.has(problem?.errors[0]?.code)) return undefined;
    throw error;
  }
}

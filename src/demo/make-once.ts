import { ConnectError } from "@connectrpc/connect";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";

/** Ids by code. */
export type Ids = ReadonlyMap<string, string>;

/** How things of one kind are made and found: both give ids. */
export interface Kind<T> {
  readonly create: (thing: T) => Promise<string | undefined>;
  readonly list: (filter: { readonly code: string }) => Promise<readonly string[]>;
}

/** What the service says of a thing that it has already: a taken id, code or document, a set or rule that was made since. */
const THERE: ReadonlySet<string | undefined> = new Set(["DUPLICATE", "STALE_VERSION", "RULE_OVERLAP"]);

/**
 * Makes things in their order and gives their ids. Where the id or the code of one is taken, it is the thing that has the
 * code: that is how a filling goes on that was cut off so long ago that the service has forgotten its idempotency keys.
 */
export async function makeOnce<T extends { readonly code: string }>(
  things: readonly T[],
  { create, list }: Kind<T>,
): Promise<Ids> {
  const ids = new Map<string, string>();
  for (const thing of things) {
    const id = (await unlessThere(create(thing))) ?? (await list({ code: thing.code }))[0];
    if (id === undefined) throw new Error(`${thing.code} is there, but under another code or unseen by the demo`);
    ids.set(thing.code, id);
  }
  return ids;
}

/** The id of a code. Throws for one that the demo's data lacks. */
export function idOf(ids: Ids, code: string): string {
  const id = ids.get(code);
  if (id === undefined) throw new Error(`the demo's data refers to ${code}, which it lacks`);
  return id;
}

/** What the call gives; undefined where it was refused because the thing that it makes is there. */
export async function unlessThere<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const [problem] = error instanceof ConnectError ? error.findDetails(ProblemSchema) : [];
    if (THERE.has(problem?.errors[0]?.code)) return undefined;
    throw error;
  }
}

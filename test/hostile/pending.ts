import type { JsonValue } from "@bufbuild/protobuf";

/** What a generated request is sent to: what is known only then. */
export interface Ground {
  /** The service's time, in milliseconds since the epoch. */
  now(): number;
  /** A value that members of this name, or of one that it ends with, had in earlier answers; the last one for 0, the one before it for 1. */
  heard(name: string, number: number): JsonValue | undefined;
}

/** A value that is settled when its request is sent, so that one seed gives the same request at any time and to any database. */
export class Pending {
  constructor(
    private readonly name: string,
    readonly valueOn: (ground: Ground) => JsonValue,
  ) {}

  toString(): string {
    return `<${this.name}>`;
  }
}

/** A value in its JSON form, with parts that are settled later. */
export type Draft = JsonValue | Pending | readonly Draft[] | { readonly [member: string]: Draft };

/** The members of a message. */
export type DraftMembers = Readonly<Record<string, Draft>>;

/** The draft as it is sent. */
export function settle(draft: Draft, ground: Ground): JsonValue {
  if (draft instanceof Pending) return draft.valueOn(ground);
  if (Array.isArray(draft)) return draft.map((each: Draft) => settle(each, ground));
  if (draft === null || typeof draft !== "object") return draft;
  return settleMembers(draft as DraftMembers, ground);
}

/** The same of the members of a message, `__proto__` among them. */
export function settleMembers(members: DraftMembers, ground: Ground): Record<string, JsonValue> {
  const settled: Record<string, JsonValue> = Object.create(null);
  for (const [name, value] of Object.entries(members)) settled[name] = settle(value, ground);
  return settled;
}

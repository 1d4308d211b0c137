import type { JsonValue } from "@bufbuild/protobuf";

/** State that is known only when a request is sent. */
export interface RequestContext {
  /** The service's time, in milliseconds since the epoch. */
  now(): number;
  /**
   * Returns a value that members of this name had in earlier answers. If there is none, it uses a name with which this
   * one ends: `patientId` for `sourcePatientId`. Number 0 is the latest value, 1 the one before.
   */
  known(name: string, number: number): JsonValue | undefined;
}

/**
 * A value that is determined when its request is sent. So a seed generates the same requests at any time and with any
 * data.
 */
export class Pending {
  constructor(
    private readonly name: string,
    readonly valueOn: (context: RequestContext) => JsonValue,
  ) {}

  toString(): string {
    return `<${this.name}>`;
  }
}

/** A JSON value with parts that are determined later. */
export type Draft = JsonValue | Pending | readonly Draft[] | { readonly [member: string]: Draft };

/** The members of a message. */
export type DraftMembers = Readonly<Record<string, Draft>>;

/** Returns the value to send. */
export function settle(draft: Draft, context: RequestContext): JsonValue {
  if (draft instanceof Pending) return draft.valueOn(context);
  if (Array.isArray(draft)) return draft.map((each: Draft) => settle(each, context));
  if (draft === null || typeof draft !== "object") return draft;
  return settleMembers(draft as DraftMembers, context);
}

/** Returns the members to send, including one called `__proto__`. */
function settleMembers(members: DraftMembers, context: RequestContext): Record<string, JsonValue> {
  const settled: Record<string, JsonValue> = Object.create(null);
  for (const [name, value] of Object.entries(members)) settled[name] = settle(value, context);
  return settled;
}

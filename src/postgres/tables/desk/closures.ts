import type { ColumnsOf } from "../../columns.js";

/** Closure of a case or waitlist entry: when, by whom (issuer and client, and the actor) and why. */
export interface Closure {
  readonly closedAt: Date;
  readonly closedBy: string;
  readonly closedByActor: string | undefined;
  /** Undefined for a waitlist entry that was closed by a booking. */
  readonly closeReason: string | undefined;
}

/** The closure of a case or waitlist entry. All attributes are undefined while the case or entry is open. */
export type Closable = { readonly [K in keyof Closure]: Closure[K] | undefined };

export const closureColumns = {
  closedAt: "closed_at",
  closedBy: "closed_by",
  closedByActor: "closed_by_actor",
  closeReason: "close_reason",
} as const satisfies ColumnsOf<Closure>;

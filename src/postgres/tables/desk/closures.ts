import type { ColumnsOf } from "../../columns.js";

/** That something at the clinic's desk was dealt with: when, by whom (issuer and client, and the actor behind it) and why. */
export interface Closure {
  readonly closedAt: Date;
  readonly closedBy: string;
  readonly closedByActor: string | undefined;
  /** Undefined for a waitlist entry that was closed by booking for it. */
  readonly closeReason: string | undefined;
}

/** The closure of what may be open still. */
export type Closable = { readonly [K in keyof Closure]: Closure[K] | undefined };

export const closureColumns = {
  closedAt: "closed_at",
  closedBy: "closed_by",
  closedByActor: "closed_by_actor",
  closeReason: "close_reason",
} as const satisfies ColumnsOf<Closure>;

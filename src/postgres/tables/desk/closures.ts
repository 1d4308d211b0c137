import type { ColumnsOf } from "../../columns.js";

/**
 * When, by whom and why a case or waitlist entry was closed. `closedBy` is the issuer and client of the request.
 * `closedByActor` is the person for whom the client called, if the request named one.
 */
export interface Closure {
  readonly closedAt: Date;
  readonly closedBy: string;
  readonly closedByActor: string | undefined;
  /** Why the case or entry was closed. Undefined for a waitlist entry that a booking closed. */
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

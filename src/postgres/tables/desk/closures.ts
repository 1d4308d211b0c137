import type { Knex } from "knex";
import type { ColumnsOf } from "../../columns.js";

/** That something at the clinic's desk was dealt with: when, by whom (issuer and client) and why. */
export interface Closure {
  readonly closedAt: Date;
  readonly closedBy: string;
  readonly closeReason: string;
}

/** The closure of what may be open still; a constraint has either all of it or nothing. */
export type Closable = { readonly [K in keyof Closure]: Closure[K] | undefined };

export const closureColumns = {
  closedAt: "closed_at",
  closedBy: "closed_by",
  closeReason: "close_reason",
} as const satisfies ColumnsOf<Closure>;

/** Leaves only what is closed, or only what is not; both where `closed` is undefined. */
export function whereClosed(query: Knex.QueryBuilder, closed: boolean | undefined): Knex.QueryBuilder {
  if (closed === undefined) return query;
  return closed ? query.whereNotNull("closed_at") : query.whereNull("closed_at");
}

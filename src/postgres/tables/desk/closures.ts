import type { Knex } from "knex";

/** That something at the clinic's desk was dealt with: when, by whom (issuer and client) and why. */
export interface Closure {
  readonly at: Date;
  readonly by: string;
  readonly reason: string;
}

/** The columns of a closure; a constraint has either all of them or none filled. */
export interface ClosureRow {
  closed_at: Date | null;
  closed_by: string | null;
  close_reason: string | null;
}

export const CLOSURE_COLUMNS = ["closed_at", "closed_by", "close_reason"] as const;

/** The closure of a row; undefined where it is not closed. */
export function closureOf({ closed_at: at, closed_by: by, close_reason: reason }: ClosureRow): Closure | undefined {
  return at === null || by === null || reason === null ? undefined : { at, by, reason };
}

/** A closure as columns to write. */
export function closureColumns({ at, by, reason }: Closure) {
  return { closed_at: at, closed_by: by, close_reason: reason };
}

/** Leaves only what is closed, or only what is not; both where `closed` is undefined. */
export function whereClosed(query: Knex.QueryBuilder, closed: boolean | undefined): Knex.QueryBuilder {
  if (closed === undefined) return query;
  return closed ? query.whereNotNull("closed_at") : query.whereNull("closed_at");
}

import type { Knex } from "knex";
import { sql } from "../../sql.js";

/** What every list of the desk can be narrowed down to; what is undefined does not count. */
export interface DeskFilter<Status extends string> {
  /** As staff see it, each once; at least one. */
  readonly statuses: readonly Status[];
  /** Instants between which it was recorded, the second exclusive. */
  readonly createdFrom: Date | undefined;
  readonly createdTo: Date | undefined;
}

/** A page of a list of the desk, the oldest first. */
export interface DeskPage {
  /** Time and id of the last row of the page before; undefined for the first page. */
  readonly after: { readonly createdAt: Date; readonly id: string } | undefined;
  /** How many rows to read at most. */
  readonly limit: number;
}

/**
 * A page of what `rows` selects anew each time, with `createdAt` and `id`. Each status is read by itself, in the order of
 * its index, and no more of it than the page can have: so no page passes over rows of other statuses, however many.
 */
export function deskPage(
  rows: () => Knex.QueryBuilder,
  { statuses, createdFrom, createdTo }: DeskFilter<string>,
  { after, limit }: DeskPage,
): Knex.QueryBuilder {
  const ofStatus = (status: string) => {
    const query = rows().where("desk_status", status);
    if (createdFrom !== undefined) query.where("created_at", ">=", createdFrom);
    if (createdTo !== undefined) query.where("created_at", "<", createdTo);
    if (after !== undefined) query.whereRaw("(created_at, id) > (?, ?)", [after.createdAt, after.id]);
    return query.orderBy(["created_at", "id"]).limit(limit);
  };
  const [first, ...others] = statuses.map(ofStatus);
  if (first !== undefined && others.length === 0) return first;
  return sql.unionAll(statuses.map(ofStatus), true).orderBy(["createdAt", "id"]).limit(limit);
}

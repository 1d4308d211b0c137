import type { Knex } from "knex";
import { sql } from "../../sql.js";

/**
 * The filters that lists of user-attention cases and of waitlist entries share. An undefined filter restricts nothing.
 */
export interface DeskFilter<Status extends string> {
  /** The values of `desk_status` to list, without duplicates; at least one. */
  readonly statuses: readonly Status[];
  /** The time of creation is `createdFrom` or later and before `createdTo`. */
  readonly createdFrom: Date | undefined;
  readonly createdTo: Date | undefined;
}

/** The position and size of a page of cases or waitlist entries. These lists are ordered from old to new. */
export interface DeskPage {
  /** Creation time and id of the last row of the previous page; undefined for the first page. */
  readonly after: { readonly createdAt: Date; readonly id: string } | undefined;
  /** The maximum number of rows. */
  readonly limit: number;
}

/**
 * Returns a query for a page, ordered by creation time, then id. `rows` returns a query for all cases or all waitlist
 * entries, with the columns `createdAt` and `id`; each call returns a new query. The page's query reads each status
 * separately, in the order of an index and up to the limit. So it scans no rows of other statuses.
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

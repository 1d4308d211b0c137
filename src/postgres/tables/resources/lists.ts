import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** Which rows of a list to read. */
export interface ListPage {
  /** The id of the last row of the page before; undefined for the first page. */
  readonly afterId: string | undefined;
  /** How many rows to read at most. */
  readonly limit: number;
}

/** A page of the rows by id: UUIDs of version 7 but in the demo, so that this is the order in which the rows came to be. */
export function byId(query: Knex.QueryBuilder, { afterId, limit }: ListPage): Knex.QueryBuilder {
  if (afterId !== undefined) query.where("id", ">", afterId);
  return query.orderBy("id").limit(limit);
}

/**
 * A page of the rows of an append-only table, the latest first, for times that another clock than that of the ids has set.
 * The time of the row that the page before ended with is read anew, at its full precision.
 */
export function latestFirst(
  { tenantId }: Transaction,
  query: Knex.QueryBuilder,
  { table, time }: { readonly table: string; readonly time: string },
  { afterId, limit }: ListPage,
): Knex.QueryBuilder {
  if (afterId !== undefined) {
    const last = sql(table).where({ tenant_id: tenantId, id: afterId }).select(time, "id");
    query.whereRaw("(??, id) < ?", [time, last]);
  }
  return query
    .orderBy([
      { column: time, order: "desc" },
      { column: "id", order: "desc" },
    ])
    .limit(limit);
}

/** The columns that have a value to be compared with. */
export function givenOnly(columns: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

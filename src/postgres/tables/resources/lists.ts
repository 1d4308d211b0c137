import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** A page of a list that is ordered by id. */
export interface ListPage {
  /** The id of the last row of the previous page; undefined for the first page. */
  readonly afterId: string | undefined;
  /** The maximum number of rows. */
  readonly limit: number;
}

/**
 * Restricts a query to a page ordered by id, and returns the query. The order is nearly the order of creation, because
 * ids are UUIDs of version 7, except in the demo data. It is not exact, because each process makes ids by its own
 * clock.
 */
export function byId(query: Knex.QueryBuilder, { afterId, limit }: ListPage): Knex.QueryBuilder {
  if (afterId !== undefined) query.where("id", ">", afterId);
  return query.orderBy("id").limit(limit);
}

/**
 * Restricts a query on an append-only table to a page, the latest row first, and returns the query. Orders by the
 * column `time`, then by id. The order of the ids alone can differ from the order of time, because each process makes
 * ids by its own clock. The page begins after the row `afterId`.
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

/** Returns the entries of `columns` whose value is not undefined. */
export function givenOnly(columns: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

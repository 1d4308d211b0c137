import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** A table with the column `tenant_id`. */
export interface TenantTable {
  readonly name: string;
  /** `keys` has the columns of the primary key without tenant_id. `types` has their types in the same order. */
  readonly keys: readonly string[];
  readonly types: readonly string[];
}

/**
 * Reads the tables with a column `tenant_id` from PostgreSQL's catalog, so that no table is forgotten. Partitions are
 * omitted, because their partitioned table is listed.
 */
const TABLES = `SELECT c.relname::text AS name, k.keys, k.types, ARRAY(
    SELECT DISTINCT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
    WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS refers
  FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND t.attname = 'tenant_id' AND NOT t.attisdropped
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(a.attname::text ORDER BY k.place), '{}') AS keys,
        coalesce(array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY k.place), '{}') AS types
      FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
      WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname <> 'tenant_id') AS k
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  ORDER BY c.relname`;

interface Found extends TenantTable {
  readonly refers: readonly string[];
}

/**
 * Returns every table with the column `tenant_id`. A table comes before the tables that it refers to. Rejects if tables
 * refer to each other in a cycle. A table may refer to itself.
 */
export async function readTenantTables(transaction: Pick<Transaction, "rows">): Promise<TenantTable[]> {
  return inOrder(await transaction.rows<Found>(sql.raw(TABLES)));
}

function inOrder(tables: readonly Found[]): Found[] {
  if (tables.length === 0) return [];
  const referred = new Set(tables.flatMap(({ refers }) => refers));
  const first = tables.filter(({ name }) => !referred.has(name));
  if (first.length === 0) throw new Error(`these tables refer to each other: ${tables.map(({ name }) => name).join()}`);
  return [...first, ...inOrder(tables.filter(({ name }) => referred.has(name)))];
}

/** A row of a table as JSON, and its key. */
export interface TenantRow {
  readonly json: string;
  readonly key: readonly string[];
}

/**
 * Returns at most `limit` rows of the tenant in a table, ordered by key. Starts after the key `after`, or at the first
 * row if `after` is undefined.
 */
export function readRows(
  transaction: Transaction,
  { name, keys, types }: TenantTable,
  after: readonly string[] | undefined,
  limit: number,
): Promise<TenantRow[]> {
  const columns = keys.map(() => "??").join();
  const key = keys.length === 0 ? "'{}'::text[]" : `ARRAY[${keys.map(() => "??::text").join()}]`;
  const query = sql(name)
    .where({ tenant_id: transaction.tenantId })
    .select(sql.raw(`to_jsonb(??)::text AS json, ${key} AS key`, [name, ...keys]))
    .orderBy([...keys])
    .limit(limit);
  if (after !== undefined)
    query.whereRaw(`(${columns}) > (${types.map((type) => `?::${type}`).join()})`, [...keys, ...after]);
  return transaction.rows<TenantRow>(query);
}

/** Returns the names of the tables in `tables` that have at least one row of the tenant. */
export async function findFilledTables(transaction: Transaction, tables: readonly TenantTable[]): Promise<string[]> {
  const found = await Promise.all(tables.map((table) => readRows(transaction, table, undefined, 1)));
  return tables.filter((_, i) => found[i]?.length !== 0).map(({ name }) => name);
}

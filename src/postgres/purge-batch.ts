import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/** The result of one batch of a purge. */
export interface PurgedBatch {
  readonly deleted: number;
  /**
   * The greatest value of the column {@link Purged.time} among the deleted rows; undefined if no row was deleted. The
   * next batch begins at this time.
   */
  readonly until: Date | undefined;
}

/**
 * Deletes at most `limit` rows that are past their retention, the oldest first. Covers all tenants. Begins at the time
 * `since`, by default at the oldest row. Pass `until` of the previous batch, so that the batch does not read the index
 * entries of deleted rows.
 */
export type PurgeBatch = (source: TransactionSource, limit: number, since?: Date) => Promise<PurgedBatch>;

/** Describes the rows that a purge deletes. `key` has the columns that identify a row. */
export interface Purged {
  readonly table: string;
  readonly key: readonly string[];
  /** The column with the time at which the retention of a row begins. Large tables need an index on it. */
  readonly time: string;
}

/**
 * Returns the statement of a purge. The statement has three parameters: the retention, as an interval in PostgreSQL's
 * syntax; the time at which to begin; and the maximum number of rows.
 *
 * With a time at which to begin, a batch does not read the index entries of rows that earlier batches deleted. The
 * index keeps these entries while an old snapshot is open.
 */
export function purgeStatement({ table, key, time }: Purged): string {
  const columns = key.join(", ");
  return `DELETE FROM ${table} WHERE (${columns}) IN (
  SELECT ${columns} FROM ${table}
  WHERE ${time} < now() - ?::interval AND ${time} >= ?::timestamptz ORDER BY ${time} LIMIT ?) RETURNING ${time} AS time`;
}

/**
 * Runs a {@link purgeStatement}. Begins at the time `since`, by default at the oldest row. Returns the number of
 * deleted rows and the greatest time among them.
 *
 * The transaction sets cupo.purge_retention to the retention. Row-level security then shows only rows that are older
 * than the retention. Each table has a minimum retention: a purge with a shorter one fails with SQLSTATE 22023.
 */
export function purgeBatch(
  source: TransactionSource,
  statement: string,
  retention: string,
  limit: number,
  since?: Date,
): Promise<PurgedBatch> {
  return runAcrossTenants(source, { setting: "cupo.purge_retention", value: retention }, async (transaction) => {
    const bindings = [retention, since ?? "-infinity", limit];
    const rows = await transaction.rows<{ readonly time: Date }>(sql.raw(statement, bindings));
    const times = rows.map(({ time }) => time.getTime());
    return { deleted: rows.length, until: times.length === 0 ? undefined : new Date(Math.max(...times)) };
  });
}

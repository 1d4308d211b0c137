import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

const NEXT = "SELECT cupo_tend_partitions(to_timestamp(?::float8 / 1000)) AS done";

/**
 * Does the next thing that is due to the tables that are parted by month, in a transaction of its own, and says what: a partition
 * that was made ahead or one that was dropped, because all of it was older than its table is kept by this clock, in milliseconds
 * since the epoch, and by the database's. Undefined where nothing is due. Rejects where somebody has the table for longer
 * than 0.3 s (55P03).
 */
export function tendNextPartition(source: TransactionSource, nowMs: number): Promise<string | undefined> {
  return runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, async (transaction) => {
    const [row] = await transaction.rows<{ done: string | null }>(sql.raw(NEXT, [nowMs]));
    return row?.done ?? undefined;
  });
}

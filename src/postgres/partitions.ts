import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

const NEXT = "SELECT cupo_tend_partitions(to_timestamp(?::float8 / 1000)) AS done";

/**
 * Runs the next maintenance step for the tables that are partitioned by month, in its own transaction. Returns a
 * description of the step; undefined if no step is needed now. A step does one of these:
 * - It creates a partition ahead of time, unless the default partition of the table has more than 50,000 rows. Moving
 *   these rows could block calls, so an operator must decide.
 * - It drops a partition whose rows are all past the table's retention, both by `nowMs` (milliseconds since the epoch)
 *   and by the database's clock.
 *
 * Rejects with 55P03 if the step does not get a lock within 0.3 s. Rejects with 54000 if no step is possible and a
 * partition is missing because the default partition has too many rows.
 */
export function tendNextPartition(source: TransactionSource, nowMs: number): Promise<string | undefined> {
  return runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, async (transaction) => {
    const [row] = await transaction.rows<{ done: string | null }>(sql.raw(NEXT, [nowMs]));
    return row?.done ?? undefined;
  });
}

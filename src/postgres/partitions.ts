import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

const NEXT = "SELECT cupo_tend_partitions(to_timestamp(?::float8 / 1000)) AS done";

/**
 * Runs the next due maintenance step for the tables that are partitioned by month, in its own transaction. The step
 * creates a partition ahead of time or drops one. A partition is dropped if all its rows are past the table's
 * retention, both by `nowMs` (milliseconds since the epoch) and by the database's clock.
 *
 * Returns a description of the step; undefined if none is due. Rejects with 55P03 if the step does not get a lock
 * within 0.3 s. If the default partition of a table has more than 50,000 rows, creates no partition of this table:
 * moving the rows could block calls, so an operator must decide. Rejects with 54000 if such a table lacks a partition
 * and no other step is due.
 */
export function tendNextPartition(source: TransactionSource, nowMs: number): Promise<string | undefined> {
  return runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, async (transaction) => {
    const [row] = await transaction.rows<{ done: string | null }>(sql.raw(NEXT, [nowMs]));
    return row?.done ?? undefined;
  });
}

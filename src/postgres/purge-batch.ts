import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/**
 * Runs a statement that deletes at most `limit` rows of all tenants that are past a retention. Returns the number
 * deleted. `retention` is an interval in PostgreSQL's syntax. The statement has two parameters, retention and limit,
 * and returns a row for each deleted row.
 *
 * The transaction sets cupo.purge_retention to the retention. Row-level security then shows only rows older than that.
 * Each table has a minimum: a purge with a shorter retention fails with 22023.
 */
export function purgeBatch(
  source: TransactionSource,
  statement: string,
  retention: string,
  limit: number,
): Promise<number> {
  return runAcrossTenants(source, { setting: "cupo.purge_retention", value: retention }, async (transaction) => {
    return (await transaction.rows(sql.raw(statement, [retention, limit]))).length;
  });
}

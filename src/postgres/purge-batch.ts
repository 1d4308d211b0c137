import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/**
 * Runs a statement that deletes rows of any tenant that are past a retention (an interval in PostgreSQL's words), at most
 * `limit`, and gives their number. Retention and limit are its two parameters, and it returns a row for each that it
 * deleted.
 *
 * The transaction tells row-level security the retention, in cupo.purge_retention, and sees and deletes nothing younger.
 * Each table has a floor below it: a purge that asks for less is refused with 22023.
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

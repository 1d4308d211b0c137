import type { Pool } from "pg";

/**
 * Runs a statement that deletes at most `limit` rows, its $1, of any tenant, and gives their number. Policies of row-level
 * security let a transaction with cupo.purge see and delete rows that are past their retention and no others.
 */
export async function purgeRows(pool: Pool, statement: string, limit: number): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL cupo.purge = 'on'; SET LOCAL statement_timeout = '30s'");
    const { rowCount } = await client.query(statement, [limit]);
    await client.query("COMMIT");
    client.release();
    return rowCount ?? 0;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

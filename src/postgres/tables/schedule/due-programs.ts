import type { Pool } from "pg";
import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** A program of some tenant. */
export interface DueProgram {
  readonly tenantId: string;
  readonly id: string;
}

const DUE = `SELECT tenant_id AS "tenantId", id FROM programs WHERE materialized_through < $1 ORDER BY tenant_id, id`;

/**
 * The programs of all tenants whose schedule is made, but ends before a local date, YYYY-MM-DD. A policy of row-level
 * security lets a transaction with cupo.jobs read the programs that have a schedule, and nothing else.
 */
export async function findDuePrograms(pool: Pool, date: string): Promise<DueProgram[]> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN READ ONLY; SET LOCAL cupo.jobs = 'on'; SET LOCAL statement_timeout = '30s'");
    const { rows } = await client.query<DueProgram>(DUE, [date]);
    await client.query("COMMIT");
    client.release();
    return rows;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Locks a program against every other change of its schedule until the transaction ends. */
export function lockProgram(transaction: Transaction, id: string): void {
  const program = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("programs").where(program).select("id").forNoKeyUpdate());
}

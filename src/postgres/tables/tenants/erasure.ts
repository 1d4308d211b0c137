import type { Transaction } from "../../../call.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

const ERASING = "SELECT tenant_id AS id FROM tenants WHERE state = 'ERASING' ORDER BY tenant_id";

const INACTIVE = "SELECT tenant_id AS id FROM tenants WHERE state <> 'ACTIVE'";

/**
 * Finds the virtual ids of the other running transactions of this database. Each transaction locks its virtual id from
 * beginning to end, even if it writes only to other servers of a Citus cluster. So each has a row in pg_locks.
 */
const RUNNING = `SELECT l.virtualxid AS id FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'virtualxid' AND l.granted AND a.datname = current_database() AND a.pid <> pg_backend_pid()`;

const FINISH = `UPDATE tenants SET state = 'ERASED', display_name = NULL, erased_at = ?, updated_at = ?, version = version + 1
  WHERE tenant_id = ? AND state = 'ERASING' RETURNING tenant_id`;

/** Returns the ids of the tenants that are being erased. */
export function findErasingTenants(source: TransactionSource): Promise<string[]> {
  return findTenants(source, ERASING);
}

/** Returns the ids of the tenants that are suspended, being erased or erased. */
export function findInactiveTenants(source: TransactionSource): Promise<string[]> {
  return findTenants(source, INACTIVE);
}

/**
 * Returns the virtual ids of the other transactions that run at this moment. Transactions that begin later get other
 * ids.
 */
export async function findRunningTransactions(transaction: Pick<Transaction, "rows">): Promise<string[]> {
  const rows = await transaction.rows<{ readonly id: string }>(sql.raw(RUNNING));
  return rows.map(({ id }) => id);
}

/** A batch of deleted rows. */
export interface ErasedRows {
  readonly erased: number;
  /** The last key of the batch, as JSON; undefined if the batch reached the end of the table. */
  readonly last: string | undefined;
}

/**
 * Deletes at most `most` rows of the tenant from a table, in the order of their keys and after the key `after`. Adds
 * the number of deleted rows to the record of the tenant. Returns undefined and deletes nothing if the tenant is not
 * being erased, or if another transaction has locked the record of the tenant.
 *
 * The caller must follow these rules:
 * - Start again at the first key until a pass through the table deletes nothing. A row is skipped while another row of
 *   the same table refers to it.
 * - Write nothing else in the transaction. The SQL function deletes the rows with another role, and Citus does not let
 *   two roles change rows of a tenant in one transaction.
 */
export async function eraseRows(
  transaction: Transaction,
  table: string,
  after: string | undefined,
  most: number,
): Promise<ErasedRows | undefined> {
  const call = sql.raw("SELECT erased, last::text AS last FROM cupo_erase_rows(?, ?::jsonb, ?)", [
    table,
    after ?? null,
    most,
  ]);
  transaction.send(sql.raw("SET LOCAL cupo.erasing = 'on'"));
  const [row] = await transaction.rows<{ readonly erased: number | null; readonly last: string | null }>(call);
  return typeof row?.erased === "number" ? { erased: row.erased, last: row.last ?? undefined } : undefined;
}

/** Marks the tenant as erased and removes its display name. Returns false if the tenant's state is not ERASING. */
export async function finishErasure(transaction: Transaction, at: Date): Promise<boolean> {
  const rows = await transaction.rows(sql.raw(FINISH, [at, at, transaction.tenantId]));
  return rows.length > 0;
}

async function findTenants(source: TransactionSource, query: string): Promise<string[]> {
  const rows = await runAcrossTenants(source, { setting: "cupo.tenants", value: "on" }, (transaction) =>
    transaction.rows<{ id: string }>(sql.raw(query)),
  );
  return rows.map(({ id }) => id);
}

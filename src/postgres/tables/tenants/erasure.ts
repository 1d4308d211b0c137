import type { Transaction } from "../../../call.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

const ERASING = "SELECT tenant_id AS id FROM tenants WHERE state = 'ERASING' ORDER BY tenant_id";

const INACTIVE = "SELECT tenant_id AS id FROM tenants WHERE state <> 'ACTIVE'";

const LOCK = `SELECT erasing_since < pg_snapshot_xmin(pg_current_snapshot()) AS "isAlone" FROM tenants
  WHERE tenant_id = ? AND state = 'ERASING' FOR NO KEY UPDATE SKIP LOCKED`;

const FINISH = `UPDATE tenants SET state = 'ERASED', display_name = NULL, erased_at = ?, updated_at = ?, version = version + 1
  WHERE tenant_id = ? AND state = 'ERASING'`;

/** Returns the ids of the tenants that are being erased. */
export function findErasingTenants(source: TransactionSource): Promise<string[]> {
  return findTenants(source, ERASING);
}

/** Returns the ids of the tenants that are not active. Jobs skip these tenants. */
export function findInactiveTenants(source: TransactionSource): Promise<string[]> {
  return findTenants(source, INACTIVE);
}

/** The locked erasure of a tenant. */
export interface LockedErasure {
  /** Whether all transactions that began before the erasure have ended. Then no other transaction can write a row. */
  readonly isAlone: boolean;
}

/**
 * Locks the erasure of the tenant until the transaction ends, and returns it. Returns undefined if the tenant is not
 * being erased, or if another process erases the tenant at this moment.
 */
export async function lockErasure(transaction: Transaction): Promise<LockedErasure | undefined> {
  return (await transaction.rows<LockedErasure>(sql.raw(LOCK, [transaction.tenantId])))[0];
}

/** A batch of deleted rows. */
export interface ErasedRows {
  readonly erased: number;
  /** The last key of the batch, as JSON; undefined at the end of the table. */
  readonly last: string | undefined;
}

/**
 * Deletes at most `most` rows of a table, in the order of their keys and after the key `after`. Adds the number of
 * deleted rows to the record of the tenant. The transaction must have locked the erasure. A row that another row of the
 * table refers to stays until the next pass over the table.
 */
export async function eraseRows(
  transaction: Transaction,
  table: string,
  after: string | undefined,
  most: number,
): Promise<ErasedRows> {
  const call = sql.raw("SELECT erased, last::text AS last FROM cupo_erase_rows(?, ?::jsonb, ?)", [
    table,
    after ?? null,
    most,
  ]);
  transaction.send(sql.raw("SET LOCAL cupo.erasing = 'on'"));
  const [row] = await transaction.rows<{ readonly erased: number; readonly last: string | null }>(call);
  if (row === undefined) throw new Error("cupo_erase_rows returned no row");
  const own = sql("tenants").where({ tenant_id: transaction.tenantId });
  transaction.send(own.update({ erased_rows: sql.raw("erased_rows + ?", [row.erased]) }));
  return { erased: row.erased, last: row.last ?? undefined };
}

/** Marks the tenant as erased. The transaction must have locked the erasure. */
export function finishErasure(transaction: Transaction, at: Date): void {
  transaction.send(sql.raw(FINISH, [at, at, transaction.tenantId]));
}

async function findTenants(source: TransactionSource, query: string): Promise<string[]> {
  const rows = await runAcrossTenants(source, { setting: "cupo.tenants", value: "on" }, (transaction) =>
    transaction.rows<{ id: string }>(sql.raw(query)),
  );
  return rows.map(({ id }) => id);
}

import type { Logger } from "pino";
import type { Transaction } from "../call.js";
import { isOlderServing } from "../postgres/migration/older-serving.js";
import { runAsTenant, type TransactionSource } from "../postgres/run-transaction.js";
import {
  eraseRows,
  findErasingTenants,
  findRunningTransactions,
  finishErasure,
} from "../postgres/tables/tenants/erasure.js";
import { findFilledTables, readTenantTables, type TenantTable } from "../postgres/tables/tenants/tenant-tables.js";
import { runForEach } from "./run-for-each.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000, idleTimeoutMs: 15_000 };
/** The maximum number of rows that one transaction deletes. */
const BATCH = 2_000;
/** The migration that added the state of tenants. Releases without it do not know the state. */
const KNOWN_SINCE = "0058-tenants";
/** The table with the record of the tenant. It is not erased. */
const KEPT = "tenants";

/** Dependencies of the erasure of tenants. */
export interface ErasurePorts {
  readonly database: TransactionSource;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Logs each erased tenant. */
  readonly logger: Pick<Logger, "info">;
  /** The maximum number of rows that one transaction deletes. Defaults to 2,000. */
  readonly batch?: number;
}

/**
 * Deletes the rows of the tenants that are being erased, in batches. Each batch is a transaction of its own. A tenant
 * that has no rows left is marked as erased. Returns whether tenants are left to erase.
 *
 * The rows of a tenant are deleted twice, because a call that began before the tenant was suspended can still write a
 * row. All transactions that were running before the first deletion must have ended before the second one begins. If
 * one of them still runs, the tenant is left to a later run.
 *
 * - If a run is interrupted, the next run continues.
 * - If the erasure of a tenant fails, the run continues with the others ({@link runForEach}).
 * - If two runs delete rows of the same tenant at the same time, one of them leaves the tenant to the other.
 * - While an older release serves the database, nothing is erased: that release does not know the state of tenants.
 * - After the signal is aborted, the run deletes at most one more batch.
 */
export async function eraseTenants(ports: ErasurePorts, signal?: AbortSignal): Promise<boolean> {
  const { database, logger } = ports;
  const tenantIds = await findErasingTenants(database);
  if (tenantIds.length === 0 || (await isOlderServing(database, KNOWN_SINCE))) return tenantIds.length > 0;
  let left = tenantIds.length;
  const erase = async (tenantId: string) => {
    if (!(await eraseTenant(tenantId, ports, signal))) return;
    logger.info({ tenant: tenantId }, "a tenant was erased");
    left -= 1;
  };
  await runForEach(tenantIds, erase, signal);
  return left > 0;
}

/**
 * Deletes the rows of a tenant, marks the tenant as erased and returns true. Returns false, and leaves the rest to a
 * later run, in these cases:
 * - The signal aborts.
 * - Another process erases or has erased the tenant.
 * - A transaction that was running before the first deletion has not ended. It could still write a row.
 */
async function eraseTenant(tenantId: string, ports: ErasurePorts, signal?: AbortSignal): Promise<boolean> {
  const within = <T>(work: (transaction: Transaction) => Promise<T>) =>
    runAsTenant(ports.database, tenantId, LIMITS, work);
  const before = await within(findRunningTransactions);
  const tables = (await within(readTenantTables)).filter(({ name }) => name !== KEPT);
  if (!(await passOver(tenantId, tables, ports, signal))) return false;
  const running = await within(findRunningTransactions);
  if (before.some((id) => running.includes(id))) return false;
  if (!(await passOver(tenantId, tables, ports, signal))) return false;
  return within(async (transaction) => {
    const filled = await findFilledTables(transaction, tables);
    if (filled.length > 0) throw new Error(`the erased tenant still has rows in ${filled.join()}`);
    return finishErasure(transaction, new Date(ports.now()));
  });
}

/**
 * Deletes the tenant's rows in `tables`. Rows that refer to another row are deleted before that row. Returns false if
 * the signal aborted, or if another process erases or has erased the tenant.
 */
async function passOver(
  tenantId: string,
  tables: readonly TenantTable[],
  ports: ErasurePorts,
  signal?: AbortSignal,
): Promise<boolean> {
  for (const { name } of tables) {
    let erased: number | undefined;
    do {
      erased = await passOverTable(tenantId, name, ports, signal);
      if (erased === undefined) return false;
    } while (erased > 0);
  }
  return true;
}

/**
 * Goes through a table once and deletes the tenant's rows in batches. Returns the number of deleted rows. Skips rows
 * that another row of the table still refers to, so call it again until it returns 0.
 *
 * Returns undefined if the signal aborted, or if another process erases or has erased the tenant. Batches before the
 * abort stay deleted.
 */
async function passOverTable(
  tenantId: string,
  table: string,
  { batch = BATCH, database }: ErasurePorts,
  signal?: AbortSignal,
): Promise<number | undefined> {
  let total = 0;
  let after: string | undefined;
  do {
    const last = after;
    const rows = await runAsTenant(database, tenantId, LIMITS, (transaction) =>
      eraseRows(transaction, table, last, batch),
    );
    if (rows === undefined || signal?.aborted === true) return undefined;
    total += rows.erased;
    after = rows.last;
  } while (after !== undefined);
  return total;
}

import { createHash } from "node:crypto";
import type { Statement, Transaction } from "../call.js";
import type { QuotaDemand, QuotaShare, QuotaStore } from "../quotas/quota-store.js";
import { type Database, openDatabase } from "./database.js";
import { purgeBatch } from "./purge-batch.js";
import { runAsTenant, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";
import { classifyFailure, condemnsConnections } from "./sql-errors.js";

/** How the store of quotas reaches the database. */
export interface QuotaStoreOptions {
  /** postgres:// URL, as of the service's own pool. */
  readonly url: string;
  /**
   * As long as a call waits for a connection, in milliseconds: whoever waited for a share in vain has a part that needs no
   * database.
   */
  readonly withinMs: number;
  readonly onIdleError: (error: Error) => void;
}

/** The store, its pool of one connection, and the way to close it. */
export interface OpenQuotaStore extends QuotaStore {
  readonly pool: Database["pool"];
  close(): Promise<void>;
}

interface WindowRow {
  readonly policy: string;
  readonly taken: number;
  readonly ends_in_ms: number;
}

/** Behind its end a window is of no use. */
const RETENTION = "1 hour";

const PURGE = `DELETE FROM quota_windows WHERE (tenant_id, principal, policy) IN (
  SELECT tenant_id, principal, policy FROM quota_windows WHERE ends_at < now() - ?::interval LIMIT ?) RETURNING tenant_id`;

/**
 * The quotas of principals in the database, where all processes share them. Windows go by the database's clock. On a connection
 * of its own, so that a question need not wait for the calls that are at work.
 */
export function openQuotaStore({ url, withinMs, onIdleError }: QuotaStoreOptions): OpenQuotaStore {
  const terms = { url, maxConnections: 1, acquireTimeoutMs: withinMs, queryTimeoutMs: withinMs, onIdleError };
  const limits = { statementTimeoutMs: withinMs, lockTimeoutMs: withinMs, idleTimeoutMs: withinMs };
  const database = openDatabase(terms);
  return {
    async take({ tenantId, id }, demands) {
      try {
        return await runAsTenant(database, tenantId, limits, (work) => takeShares(work, hashOf(id), demands));
      } catch (error) {
        if (condemnsConnections(classifyFailure(error))) database.discardConnections();
        throw error;
      }
    },
    pool: database.pool,
    close: () => database.close(),
  };
}

/** Deletes at most `limit` windows of any tenant that ended before their retention, and gives their number. */
export function purgeQuotaBatch(source: TransactionSource, limit: number): Promise<number> {
  return purgeBatch(source, PURGE, RETENTION, limit);
}

async function takeShares(
  transaction: Transaction,
  principal: Buffer,
  demands: readonly QuotaDemand[],
): Promise<readonly QuotaShare[]> {
  const rows = await transaction.rows<WindowRow>(takeStatement(transaction.tenantId, principal, demands));
  const byPolicy = new Map(rows.map((row) => [row.policy, row]));
  return demands.map(({ policy: { name, quota }, wanted }) => {
    const row = byPolicy.get(name);
    if (row === undefined) throw new Error(`no window of the ${name} came back`);
    const before = row.taken - wanted;
    const granted = Math.max(0, Math.min(wanted, quota - before));
    return { granted, left: Math.max(0, quota - row.taken), endsInMs: row.ends_in_ms };
  });
}

/** One statement for all windows, in the one order of policies, so that two processes never wait for each other. */
function takeStatement(tenantId: string, principal: Buffer, demands: readonly QuotaDemand[]): Statement {
  const values = demands.map(() => "(?, ?, ?, ?, now() + ? * interval '1 second', now())");
  const bindings = demands.flatMap(({ policy, wanted }) => [
    tenantId,
    principal,
    policy.name,
    wanted,
    policy.windowSeconds,
  ]);
  return sql.raw(
    `INSERT INTO quota_windows AS w (tenant_id, principal, policy, taken, ends_at, asked_at) VALUES ${values.join(", ")}
     ON CONFLICT (tenant_id, principal, policy) DO UPDATE SET
       taken = CASE WHEN w.ends_at > excluded.asked_at THEN w.taken ELSE 0 END + excluded.taken,
       ends_at = CASE WHEN w.ends_at > excluded.asked_at THEN w.ends_at ELSE excluded.ends_at END,
       asked_at = excluded.asked_at
     RETURNING policy, taken::float8, (extract(epoch FROM ends_at - asked_at) * 1000)::float8 AS ends_in_ms`,
    bindings,
  );
}

function hashOf(id: string): Buffer {
  return createHash("sha256").update(id).digest();
}

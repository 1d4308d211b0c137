import { createHash } from "node:crypto";
import type { Statement, Transaction } from "../call.js";
import type { QuotaDemand, QuotaShare, QuotaStore } from "../quotas/quota-store.js";
import { type Database, openDatabase } from "./database.js";
import { type PurgedBatch, purgeBatch, purgeStatement } from "./purge-batch.js";
import { runAsTenant, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";
import { classifyFailure, condemnsConnections } from "./sql-errors.js";

/** Options of the quota store. */
export interface QuotaStoreOptions {
  /** postgres:// URL of the database, with the same parameters as the URL of the service's pool. */
  readonly url: string;
  /**
   * Limit for getting a connection and for each statement, in milliseconds. If the limit is exceeded, the caller uses
   * quotas of its own process.
   */
  readonly withinMs: number;
  readonly onIdleError: (error: Error) => void;
}

/** A quota store with its pool of one connection. */
export interface OpenQuotaStore extends QuotaStore {
  readonly pool: Database["pool"];
  close(): Promise<void>;
}

interface WindowRow {
  readonly policy: string;
  readonly taken: number;
  readonly ends_in_ms: number;
}

/** Quota windows are kept for this long after they expire. */
const RETENTION = "1 hour";

const PURGE = purgeStatement({
  table: "quota_windows",
  key: ["tenant_id", "principal", "policy"],
  time: "ends_at",
});

/**
 * Opens a store that keeps the quotas of principals in the database, shared by all processes. Quota windows begin and
 * end by the database's clock. The store has its own connection, so that it does not wait for the connections of calls.
 */
export function openQuotaStore({ url, withinMs, onIdleError }: QuotaStoreOptions): OpenQuotaStore {
  const options = { url, maxConnections: 1, acquireTimeoutMs: withinMs, queryTimeoutMs: withinMs, onIdleError };
  const limits = { statementTimeoutMs: withinMs, lockTimeoutMs: withinMs, idleTimeoutMs: withinMs };
  const database = openDatabase(options);
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

/**
 * Deletes at most `limit` quota windows that expired at least an hour ago, the oldest first. Covers all tenants. Skips
 * windows that expired before `since`, which is `until` of the previous batch.
 */
export function purgeQuotaBatch(source: TransactionSource, limit: number, since?: Date): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, RETENTION, limit, since);
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
    if (row === undefined) throw new Error(`the database returned no window for the quota ${name}`);
    const before = row.taken - wanted;
    const granted = Math.max(0, Math.min(wanted, quota - before));
    return { granted, left: Math.max(0, quota - row.taken), endsInMs: row.ends_in_ms };
  });
}

/**
 * Returns one statement that adds the requests of each demand (its number `wanted`) to the quota window of the demand's
 * policy. An expired window is replaced by a new one. The demands always have the same order of policies, so two
 * processes cannot deadlock.
 */
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

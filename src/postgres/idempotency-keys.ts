import { hash } from "node:crypto";
import type { Knex } from "knex";
import type { Statement, Transaction } from "../call.js";
import { type IdempotencyClaim, KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import type { ColumnsOf } from "./columns.js";
import { prepared } from "./prepared.js";
import { type PurgedBatch, purgeBatch, purgeStatement } from "./purge-batch.js";
import type { TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/** The stored result of a call under its idempotency key. */
export interface ResultRecord {
  readonly fingerprint: Buffer;
  readonly correlationId: string;
  /** Undefined until the call stores its response, and after the response was erased. */
  readonly response: Buffer | undefined;
}

const PURGE = purgeStatement({ table: "idempotency_keys", key: ["tenant_id", "key_hash"], time: "created_at" });

const RESULT_COLUMNS = {
  fingerprint: "fingerprint",
  correlationId: "correlation_id",
  response: "response",
} satisfies ColumnsOf<ResultRecord>;

const CLAIM_COLUMNS = ["tenant_id", "key_hash", "operation", "fingerprint", "correlation_id", "response"] as const;

const insertClaim = prepared(CLAIM_COLUMNS, (row) => claimOf(sql("idempotency_keys").insert(row), row.tenant_id));

const insertClaimThenWait = prepared([...CLAIM_COLUMNS, "lock_timeout"], ({ lock_timeout, ...row }) =>
  claimOf(
    sql("idempotency_keys")
      .insert(row)
      .returning(sql.raw("set_config('lock_timeout', ?, true)", [lock_timeout])),
    row.tenant_id,
  ),
);

const updateResponse = prepared(["tenant_id", "key_hash", "response"], ({ response, ...key }) =>
  sql("idempotency_keys").where(key).update({ response }),
);

const selectResult = prepared(["tenant_id", "key_hash"], (key) =>
  sql("idempotency_keys").where(key).select(RESULT_COLUMNS),
);

/**
 * Returns a statement that inserts a key and also checks the state of the tenant, in one round trip. For a tenant that
 * is not active, the statement fails by a division by zero and inserts nothing. A tenant without a row in the table
 * `tenants` counts as active.
 */
function claimOf(insert: Knex.QueryBuilder, tenantId: Knex.Value): Knex.QueryBuilder {
  return sql
    .queryBuilder()
    .with("claimed", insert)
    .select(sql.raw("1 / (state = 'ACTIVE')::integer"))
    .from("tenants")
    .where({ tenant_id: tenantId });
}

/** The parameter for the response in {@link claimKey}. Its value can be set until pg sends the statement. */
export class DeferredResponse {
  #response: Uint8Array | undefined;
  #isSent = false;

  /**
   * Sets the response. Returns false if the statement of {@link claimKey} was sent already. Then the caller must store
   * the response with {@link storeResult}.
   */
  set(response: Uint8Array): boolean {
    if (!this.#isSent) this.#response = response;
    return !this.#isSent;
  }

  /**
   * Called by pg when it sends the statement of {@link claimKey}. Returns the response, or null if it is not set yet.
   */
  toPostgres(): Uint8Array | null {
    this.#isSent = true;
    return this.#response ?? null;
  }
}

/**
 * Returns the statement that claims the key. If another open transaction has claimed the key, the statement waits for
 * the end of that transaction. In two cases, the statement fails and aborts its own transaction:
 * - If the key is already taken, with a unique violation.
 * - If the tenant is not active, with a division by zero (`NO_ROW`).
 *
 * With `lockTimeoutMs`, the statement also sets the lock timeout of all later statements of the transaction. Leave it
 * undefined on Citus, because Citus rejects an INSERT that also sets the timeout.
 */
export function claimKey(claim: IdempotencyClaim, response: DeferredResponse, lockTimeoutMs?: number): Statement {
  const row = {
    tenant_id: claim.tenantId,
    key_hash: keyHash(claim),
    operation: claim.operation,
    fingerprint: claim.fingerprint,
    correlation_id: claim.correlationId,
    response,
  };
  return lockTimeoutMs === undefined ? insertClaim(row) : insertClaimThenWait({ ...row, lock_timeout: lockTimeoutMs });
}

/** Returns the statement that stores the response in the claim. Send it in the transaction that made the claim. */
export function storeResult(claim: IdempotencyClaim, response: Uint8Array): Statement {
  return updateResponse({ tenant_id: claim.tenantId, key_hash: keyHash(claim), response });
}

/**
 * Returns the statement that reads the committed result of a key. Its row is a {@link ResultRecord}; no row if the key
 * is free.
 */
export function findResult(claim: IdempotencyClaim): Statement {
  return selectResult({ tenant_id: claim.tenantId, key_hash: keyHash(claim) });
}

/**
 * Erases the tenant's stored responses that contain one of these ids (UUIDs) as text. Also erases the fingerprints of
 * the requests that got these responses. Keeps the keys, so that a retry does not repeat the operation. Reads all
 * responses of the tenant, because no index has the ids.
 */
export function eraseResults(transaction: Transaction, ids: readonly string[]): void {
  transaction.send(
    sql.raw(
      `UPDATE idempotency_keys SET response = NULL, fingerprint = decode(repeat('00', 32), 'hex')
       WHERE tenant_id = ? AND response IS NOT NULL
         AND EXISTS (SELECT FROM unnest(?::text[]) AS named (id) WHERE position(convert_to(named.id, 'UTF8') IN response) > 0)`,
      [transaction.tenantId, ids as string[]],
    ),
  );
}

/**
 * Deletes at most `limit` idempotency keys that are past their retention, the oldest first. Covers all tenants. Skips
 * keys that were created before `since`, which is `until` of the previous batch.
 */
export function purgeKeyBatch(
  source: TransactionSource,
  limit: number,
  since?: Date,
  retentionHours: number = KEY_RETENTION_HOURS,
): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, `${retentionHours} hours`, limit, since);
}

/** Returns the SHA-256 hash under which a claim is stored. */
export function keyHash(claim: IdempotencyClaim): Buffer {
  return hash("sha256", `${claim.principalId}\n${claim.operation}\n${claim.key}`, "buffer");
}

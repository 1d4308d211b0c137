import { createHash } from "node:crypto";
import type { Statement, Transaction } from "../call.js";
import { type IdempotencyClaim, KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import type { ColumnsOf } from "./columns.js";
import { prepared } from "./prepared.js";
import { purgeBatch } from "./purge-batch.js";
import type { TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/** A stored result. */
export interface ResultRecord {
  readonly fingerprint: Buffer;
  readonly correlationId: string;
  /** Undefined in the transaction that claims the key, and where what it held was erased. */
  readonly response: Buffer | undefined;
}

const PURGE = `DELETE FROM idempotency_keys WHERE (tenant_id, key_hash) IN (
  SELECT tenant_id, key_hash FROM idempotency_keys
  WHERE created_at < now() - ?::interval ORDER BY created_at LIMIT ?) RETURNING tenant_id`;

const RESULT_COLUMNS = {
  fingerprint: "fingerprint",
  correlationId: "correlation_id",
  response: "response",
} satisfies ColumnsOf<ResultRecord>;

const CLAIM_COLUMNS = ["tenant_id", "key_hash", "operation", "fingerprint", "correlation_id", "response"] as const;

const insertClaim = prepared(CLAIM_COLUMNS, (row) => sql("idempotency_keys").insert(row));

const updateResponse = prepared(["tenant_id", "key_hash", "response"], ({ response, ...key }) =>
  sql("idempotency_keys").where(key).update({ response }),
);

const selectResult = prepared(["tenant_id", "key_hash"], (key) =>
  sql("idempotency_keys").where(key).select(RESULT_COLUMNS),
);

/** The bytes of a response, for a claim that is sent a moment after it is made: with what was given until then. */
export class LateResponse {
  #response: Uint8Array | undefined;
  #isSent = false;

  /** Says whether the claim takes the response along. Where it does not, it was sent, and {@link storeResult} completes it. */
  give(response: Uint8Array): boolean {
    if (!this.#isSent) this.#response = response;
    return !this.#isSent;
  }

  /** Called by pg when the claim is sent. */
  toPostgres(): Uint8Array | null {
    this.#isSent = true;
    return this.#response ?? null;
  }
}

/**
 * Claims the key, or fails with a unique violation where it is taken, which aborts the transaction and with it every
 * statement that was sent behind the claim. A claim that another open transaction holds is waited for.
 */
export function claimKey(claim: IdempotencyClaim, response: LateResponse): Statement {
  return insertClaim({
    tenant_id: claim.tenantId,
    key_hash: keyHash(claim),
    operation: claim.operation,
    fingerprint: claim.fingerprint,
    correlation_id: claim.correlationId,
    response,
  });
}

/** Completes the claim with the bytes of the response, in the transaction that made it. */
export function storeResult(claim: IdempotencyClaim, response: Uint8Array): Statement {
  return updateResponse({ tenant_id: claim.tenantId, key_hash: keyHash(claim), response });
}

/** The committed result of a key, if there is one: a {@link ResultRecord}. */
export function findResult(claim: IdempotencyClaim): Statement {
  return selectResult({ tenant_id: claim.tenantId, key_hash: keyHash(claim) });
}

/**
 * Erases every result of the tenant that names one of these ids, and what would tell its request: the key stays taken, so that
 * nobody does by a retry what was done before. UUIDs stand in a response as text. All that the tenant has stored is looked
 * through, because no key says whom its result is about, and none should have to for what happens so seldom.
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

/** Deletes at most `limit` keys of any tenant that are past their retention, and gives their number. */
export function purgeKeyBatch(
  source: TransactionSource,
  limit: number,
  retentionHours: number = KEY_RETENTION_HOURS,
): Promise<number> {
  return purgeBatch(source, PURGE, `${retentionHours} hours`, limit);
}

function keyHash(claim: IdempotencyClaim): Buffer {
  return createHash("sha256").update(`${claim.principalId}\n${claim.operation}\n${claim.key}`).digest();
}

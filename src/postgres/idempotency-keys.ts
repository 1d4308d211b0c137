import { createHash } from "node:crypto";
import type { Knex } from "knex";
import type { Statement } from "../call.js";
import type { IdempotencyClaim } from "../interceptors/idempotency.js";

/** A stored result. */
export interface StoredResult {
  readonly fingerprint: Buffer;
  readonly correlation_id: string;
  readonly response: Buffer | null;
}

/**
 * Claims the key, or fails with a unique violation where it is taken, which aborts the transaction and with it every
 * statement that was sent behind the claim. A claim that another open transaction holds is waited for.
 */
export function claimKey(knex: Knex, claim: IdempotencyClaim): Statement {
  return knex("idempotency_keys").insert({
    tenant_id: claim.tenantId,
    key_hash: keyHash(claim),
    operation: claim.operation,
    fingerprint: claim.fingerprint,
    correlation_id: claim.correlationId,
  });
}

/** Completes the claim with the bytes of the response, in the transaction that made it. */
export function storeResult(knex: Knex, claim: IdempotencyClaim, response: Uint8Array): Statement {
  return knex("idempotency_keys")
    .where({ tenant_id: claim.tenantId, key_hash: keyHash(claim) })
    .update({ response });
}

/** The committed result of a key, if there is one. */
export function findResult(knex: Knex, claim: IdempotencyClaim): Statement {
  return knex("idempotency_keys")
    .where({ tenant_id: claim.tenantId, key_hash: keyHash(claim) })
    .select("fingerprint", "correlation_id", "response");
}

/** Deletes at most `limit` keys of any tenant that are past their retention; run where cupo.purge is on. */
export function purgeKeys(knex: Knex, limit: number): Statement {
  return knex.raw(
    `DELETE FROM idempotency_keys WHERE (tenant_id, key_hash) IN (
       SELECT tenant_id, key_hash FROM idempotency_keys
       WHERE created_at < now() - interval '72 hours' ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  );
}

function keyHash(claim: IdempotencyClaim): Buffer {
  return createHash("sha256").update(`${claim.principalId}\n${claim.operation}\n${claim.key}`).digest();
}

import { purgeKeyBatch } from "../postgres/idempotency-keys.js";
import { purgeQuotaBatch } from "../postgres/quota-windows.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { purgeTokenBatch } from "../postgres/tables/appointments/consumed-tokens.js";
import { purgeEventBatch } from "../postgres/tables/events/event-overview.js";

const BATCH = 1_000;

/**
 * Deletes the results of idempotency keys that are past their retention and gives their number. In batches, each its own
 * transaction, so that no lock is held for long; of processes that purge at once, one finds the work done. A signal ends it
 * behind the batch at hand.
 */
export function purgeIdempotencyKeys(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeKeyBatch, signal);
}

/** Forgets used option tokens that ended long enough ago, in the same way. */
export function purgeOptionTokens(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeTokenBatch, signal);
}

/** Takes events that are past their retention out of the feeds, in the same way. */
export function purgeEvents(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeEventBatch, signal);
}

/** Forgets windows of quotas that ended long enough ago, in the same way. */
export function purgeQuotas(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeQuotaBatch, signal);
}

async function purgeInBatches(
  database: TransactionSource,
  purgeBatch: typeof purgeTokenBatch,
  signal: AbortSignal | undefined,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const batch = await purgeBatch(database, BATCH);
    deleted += batch;
    if (batch < BATCH || signal?.aborted === true) return deleted;
  }
}

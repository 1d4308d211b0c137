import { purgeKeyBatch } from "../postgres/idempotency-keys.js";
import type { PurgeBatch } from "../postgres/purge-batch.js";
import { purgeQuotaBatch } from "../postgres/quota-windows.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { purgeTokenBatch } from "../postgres/tables/appointments/consumed-tokens.js";
import { purgeEventBatch } from "../postgres/tables/events/event-overview.js";
import { purgeHoldBatch } from "../postgres/tables/holds/purge-holds.js";
import { purgeDeliveryBatch } from "../postgres/tables/webhooks/webhook-overview.js";
import { assignPositions } from "./assign-positions.js";
import { runForEach } from "./run-for-each.js";

const BATCH = 1_000;

/** The steps of {@link purgeAll}. An event can be purged only after it has a position. */
const STEPS: readonly ((database: TransactionSource, signal?: AbortSignal) => Promise<unknown>)[] = [
  purgeIdempotencyKeys,
  purgeOptionTokens,
  purgeHolds,
  purgeQuotas,
  assignPositions,
  purgeEvents,
  purgeDeliveries,
];

/**
 * Purges all expired data and assigns positions to events. If a step fails, continues with the next one
 * ({@link runForEach}). An aborted signal stops the purge after the current batch.
 */
export function purgeAll(database: TransactionSource, signal?: AbortSignal): Promise<void> {
  return runForEach(STEPS, async (step) => void (await step(database, signal)), signal);
}

/**
 * Deletes the idempotency keys that are past their retention, with their stored results. Returns the number of deleted
 * keys. Each batch is a transaction of its own, so that no lock is held for long. If several processes purge at the
 * same time, only one of them deletes each row. An aborted signal stops the purge after the current batch.
 */
export function purgeIdempotencyKeys(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeKeyBatch, signal);
}

/** Deletes used option tokens past their retention, like {@link purgeIdempotencyKeys}, and returns their number. */
export function purgeOptionTokens(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeTokenBatch, signal);
}

/** Deletes events past their retention, like {@link purgeIdempotencyKeys}, and returns their number. */
export function purgeEvents(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeEventBatch, signal);
}

/** Deletes webhook deliveries past their retention, like {@link purgeIdempotencyKeys}, and returns their number. */
export function purgeDeliveries(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeDeliveryBatch, signal);
}

/**
 * Deletes the request counts of quotas past their retention, like {@link purgeIdempotencyKeys}, and returns their
 * number.
 */
export function purgeQuotas(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeQuotaBatch, signal);
}

/** Deletes holds past their retention, like {@link purgeIdempotencyKeys}, and returns their number. */
export function purgeHolds(database: TransactionSource, signal?: AbortSignal): Promise<number> {
  return purgeInBatches(database, purgeHoldBatch, signal);
}

async function purgeInBatches(
  database: TransactionSource,
  purgeBatch: PurgeBatch,
  signal: AbortSignal | undefined,
): Promise<number> {
  let total = 0;
  let since: Date | undefined;
  for (;;) {
    const { deleted, until } = await purgeBatch(database, BATCH, since);
    total += deleted;
    since = until;
    if (deleted < BATCH || signal?.aborted === true) return total;
  }
}

import { runTransaction, type TransactionSource } from "../postgres/run-transaction.js";
import { MAX_PLACED, placeOutstanding, readFeed } from "../postgres/tables/events/event-feed.js";
import { findOutstandingTenants } from "../postgres/tables/events/event-overview.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 2_000 };
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Gives the events of tenants whose feeds nobody reads their positions, so that they are kept for as long as others from the
 * time at which they happened, and whoever begins to read finds little to do. A signal ends it behind the batch at hand.
 */
export async function placeEvents(database: TransactionSource, signal?: AbortSignal): Promise<void> {
  for (const tenantId of await findOutstandingTenants(database)) {
    for (;;) {
      const isFull = await placeBatch(database, tenantId);
      if (signal?.aborted === true) return;
      if (!isFull) break;
    }
  }
}

/** Whether there may be more to do. */
function placeBatch(database: TransactionSource, tenantId: string): Promise<boolean> {
  return runTransaction(database, { scope: { tenantId }, limits: LIMITS }, async (transaction) => {
    const before = readFeed(transaction, BEHIND_ALL, 1);
    placeOutstanding(transaction);
    const [from, to] = await Promise.all([before, readFeed(transaction, BEHIND_ALL, 1), transaction.commit()]);
    return (to?.lastPosition ?? 0) - (from?.lastPosition ?? 0) >= MAX_PLACED;
  });
}

import { CupoError } from "../errors.js";
import { runTransaction, type TransactionSource } from "../postgres/run-transaction.js";
import { assignNextPositions, MAX_ASSIGNED, readFeed } from "../postgres/tables/events/event-feed.js";
import { findOutstandingTenants } from "../postgres/tables/events/event-overview.js";
import { runForEach } from "./run-for-each.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 2_000 };
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

/**
 * For all tenants: assigns a position in the tenant's event feed to each event that has none. An aborted signal stops
 * the job after the current batch. If the job fails for a tenant, it continues with the others ({@link runForEach}).
 *
 * Reading a feed does the same, so this job is for feeds that nobody reads. It is needed for two reasons:
 * - An event can be purged only after it has a position, because its retention begins then.
 * - The first reader of a feed should not wait while many positions are assigned.
 */
export async function assignPositions(database: TransactionSource, signal?: AbortSignal): Promise<void> {
  const assignAll = async (tenantId: string) => {
    for (;;) {
      const isFull = await assignBatch(database, tenantId);
      if (signal?.aborted === true || !isFull) return;
    }
  };
  await runForEach(await findOutstandingTenants(database), assignAll, signal);
}

/**
 * Assigns positions to one batch of events. Returns whether the batch was full, so that more events may be left. Does
 * nothing for a tenant that is being erased.
 */
function assignBatch(database: TransactionSource, tenantId: string): Promise<boolean> {
  const work = { scope: { tenantId }, limits: LIMITS };
  const assigned = runTransaction(database, work, async (transaction) => {
    const before = readFeed(transaction, BEHIND_ALL, 1);
    assignNextPositions(transaction);
    const [from, to] = await Promise.all([before, readFeed(transaction, BEHIND_ALL, 1), transaction.commit()]);
    return (to?.lastPosition ?? 0) - (from?.lastPosition ?? 0) >= MAX_ASSIGNED;
  });
  return assigned.catch((error: unknown) => {
    if (error instanceof CupoError) return false;
    throw error;
  });
}

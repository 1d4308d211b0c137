import { unavailabilityOf } from "../postgres/call-failure.js";
import type { Database } from "../postgres/database.js";
import { runTransaction, type TransactionWork } from "../postgres/run-transaction.js";
import { classifyFailure, condemnsConnections } from "../postgres/sql-errors.js";
import {
  assignNextPositions,
  type FeedPage,
  findOldestPosition,
  readFeed,
} from "../postgres/tables/events/event-feed.js";
import type { TransactionLimits } from "../postgres/transaction-start.js";

/**
 * Reads the event feeds of tenants in its own transactions. All methods reject with SERVICE_UNAVAILABLE while the
 * database is unavailable or busy.
 */
export interface FeedReader {
  /**
   * Returns a page of at most `limit` events after a position. First assigns positions to at most 1,000 committed
   * events that have no position. Creates the feed if the tenant has none.
   */
  read(tenantId: string, after: number, limit: number): Promise<FeedPage>;
  /**
   * Returns the position just before the oldest stored event. If no event is stored, returns the last position of the
   * feed. Returns 0 for a tenant without a feed.
   */
  findOldest(tenantId: string): Promise<number>;
}

const LIMITS: TransactionLimits = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 2_000 };
/**
 * The maximum number of the pool's connections that the reader uses at the same time. The other connections remain for
 * calls.
 */
const MAX_CONNECTIONS = 2;

/**
 * Creates a reader that uses short transactions on the pool, at most two at the same time.
 *
 * If the feed exists and all committed events have positions, a read is one statement in one round trip. Otherwise a
 * second transaction creates the feed if needed, locks it and assigns positions. That transaction sends COMMIT together
 * with its statements, so it holds the lock only while the statements run.
 */
export function createFeedReader(database: Database, limits = LIMITS): FeedReader {
  const inTurn = atOnce(MAX_CONNECTIONS);
  const run = <T>(tenantId: string, work: TransactionWork<T>): Promise<T> =>
    inTurn(() => runTransaction(database, { scope: { tenantId }, limits }, work)).catch((error: unknown) => {
      if (condemnsConnections(classifyFailure(error))) database.discardConnections();
      throw unavailabilityOf(error, limits.statementTimeoutMs) ?? error;
    });
  return {
    async read(tenantId, after, limit) {
      const page = await run(tenantId, async (transaction) => {
        const [read] = await Promise.all([readFeed(transaction, after, limit), transaction.commit()]);
        return read;
      });
      if (page?.isOutstanding === false) return page;
      return run(tenantId, async (transaction) => {
        assignNextPositions(transaction);
        const [current] = await Promise.all([readFeed(transaction, after, limit), transaction.commit()]);
        if (current === undefined) throw new Error("the feed of the tenant was not created");
        return current;
      });
    },
    findOldest: (tenantId) => run(tenantId, findOldestPosition),
  };
}

/**
 * Returns a function that runs its argument `work`. At most `most` calls of the returned function run at the same time.
 * Further calls wait and start in order.
 */
function atOnce(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

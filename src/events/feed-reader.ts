import { serviceUnavailable } from "../errors.js";
import type { Database } from "../postgres/database.js";
import type { TransactionLimits } from "../postgres/pipelined-transaction.js";
import { runTransaction, type TransactionWork } from "../postgres/run-transaction.js";
import { classifyFailure, condemnsConnections, type DatabaseFailure, isAway } from "../postgres/sql-errors.js";
import { type FeedPage, findOldestPosition, placeOutstanding, readFeed } from "../postgres/tables/events/event-feed.js";

/** Reads the feeds of tenants, outside of calls. Everything rejects with SERVICE_UNAVAILABLE while the database is away. */
export interface FeedReader {
  /** What is behind a position, `limit` events at most, once what has committed has got its position. */
  read(tenantId: string, after: number, limit: number): Promise<FeedPage>;
  /** The position ahead of the oldest event that is kept, of a feed that was read before. */
  findOldest(tenantId: string): Promise<number>;
}

const LIMITS: TransactionLimits = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 2_000 };
const RETRY_AFTER_SECONDS = 1;
/** Failures by which others were in the way. */
const CONTENDED: ReadonlySet<DatabaseFailure> = new Set(["RETRY", "LOCK_TIMEOUT"]);
/** How many connections to the database are used at once, at most: the others are for calls. */
const MAX_CONNECTIONS = 2;

/**
 * Reads by short transactions on connections of the pool, of two at once at most. Where nothing is outstanding, to read is one
 * statement and one round trip; where something is, it is placed in another, whose lock lasts as long as its statements,
 * because its COMMIT travels with them.
 */
export function createFeedReader(database: Database, limits = LIMITS): FeedReader {
  const inTurn = atOnce(MAX_CONNECTIONS);
  const run = <T>(tenantId: string, work: TransactionWork<T>): Promise<T> =>
    inTurn(() => runTransaction(database, { scope: { tenantId }, limits }, work)).catch((error: unknown) => {
      const failure = classifyFailure(error);
      if (condemnsConnections(failure)) database.discardConnections();
      throw isAway(failure) || CONTENDED.has(failure) ? serviceUnavailable(RETRY_AFTER_SECONDS, error) : error;
    });
  return {
    async read(tenantId, after, limit) {
      const page = await run(tenantId, async (transaction) => {
        const [read] = await Promise.all([readFeed(transaction, after, limit), transaction.commit()]);
        return read;
      });
      if (page?.isOutstanding === false) return page;
      return run(tenantId, async (transaction) => {
        placeOutstanding(transaction);
        const [placed] = await Promise.all([readFeed(transaction, after, limit), transaction.commit()]);
        if (placed === undefined) throw new Error("the feed has not begun");
        return placed;
      });
    },
    findOldest: (tenantId) => run(tenantId, findOldestPosition),
  };
}

/** Runs what it is given in the order in which it comes, so many at once. */
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

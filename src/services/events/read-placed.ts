import type { Transaction } from "../../call.js";
import { assignNextPositions, type FeedPage, readFeed } from "../../postgres/tables/events/event-feed.js";

/** A position after all events. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Returns the feed after the newest event. It first assigns positions under the lock of the feed, until the commit. */
export async function readEndOfFeed(transaction: Transaction): Promise<FeedPage> {
  assignNextPositions(transaction);
  return readExistingFeed(transaction, AFTER_ALL, 1);
}

/** Returns the first event after a position, and the state of the feed. It first assigns positions if there are none. */
export function readFeedAfter(transaction: Transaction, position: number): Promise<FeedPage> {
  return readPlaced(transaction, position, 1);
}

/**
 * Returns at most `limit` events after a position. If events have no position yet, it first assigns positions under the
 * lock of the feed.
 */
export async function readPlaced(transaction: Transaction, after: number, limit: number): Promise<FeedPage> {
  const page = await readFeed(transaction, after, limit);
  if (page?.isOutstanding === false) return page;
  assignNextPositions(transaction);
  return readExistingFeed(transaction, after, limit);
}

/** Returns at most `limit` events after a position of a feed that exists. */
export async function readExistingFeed(transaction: Transaction, after: number, limit: number): Promise<FeedPage> {
  const page = await readFeed(transaction, after, limit);
  if (page === undefined) throw new Error("the feed of the tenant was not created");
  return page;
}

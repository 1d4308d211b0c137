import type { Transaction } from "../../call.js";
import { assignNextPositions, type FeedPage, MAX_ASSIGNED, readFeed } from "../../postgres/tables/events/event-feed.js";

/** A position after all events. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Assigns positions to all committed events that have none yet (see {@link assignNextPositions}). This locks the feed
 * until the commit. Then returns a page without events, which states the last position of the feed. Events that are
 * committed meanwhile may be left without a position.
 */
export async function readEndOfFeed(transaction: Transaction): Promise<FeedPage> {
  let page = await readNextEnd(transaction);
  let before = 0;
  while (page.isOutstanding && page.lastPosition - before >= MAX_ASSIGNED) {
    before = page.lastPosition;
    page = await readNextEnd(transaction);
  }
  return page;
}

function readNextEnd(transaction: Transaction): Promise<FeedPage> {
  assignNextPositions(transaction);
  return readExistingFeed(transaction, AFTER_ALL, 1);
}

/**
 * Returns a page with at most one event: the first event after a position. Assigns positions like {@link readPlaced}.
 */
export function readFeedAfter(transaction: Transaction, position: number): Promise<FeedPage> {
  return readPlaced(transaction, position, 1);
}

/**
 * Returns a page with at most `limit` events after a position. If events have no position yet, or the tenant has no
 * feed, first calls {@link assignNextPositions}. This locks the feed until the commit.
 */
export async function readPlaced(transaction: Transaction, after: number, limit: number): Promise<FeedPage> {
  const page = await readFeed(transaction, after, limit);
  if (page?.isOutstanding === false) return page;
  assignNextPositions(transaction);
  return readExistingFeed(transaction, after, limit);
}

/** Returns a page with at most `limit` events after a position. Throws if the tenant has no feed. */
export async function readExistingFeed(transaction: Transaction, after: number, limit: number): Promise<FeedPage> {
  const page = await readFeed(transaction, after, limit);
  if (page === undefined) throw new Error("the feed of the tenant was not created");
  return page;
}

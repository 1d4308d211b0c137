import type { ReadyCall, Transaction } from "../../call.js";
import { Event_Start } from "../../gen/cupo/clinic/v1/event_pb.js";
import type { ListEventsRequest } from "../../gen/cupo/clinic/v1/event_service_pb.js";
import { type FeedPage, findOldestPosition } from "../../postgres/tables/events/event-feed.js";
import { pageSizeOf } from "../resources/pages.js";
import { toCursor } from "./event-cursor.js";
import { toEvent } from "./event-messages.js";
import { cursorOf, matchesFilter, requireContinuation } from "./feed-request.js";
import { readEndOfFeed, readExistingFeed, readPlaced } from "./read-placed.js";

/** The highest number of events that one page scans when it filters by resource type. */
const MAX_SCANNED = 1_000;

/**
 * Returns one page of the feed: events of the requested types that the caller may see. The page can be short or empty
 * although `hasMore` is true. With the start NOW, the page is always empty.
 *
 * First assigns positions to at most 1,000 committed events that have none yet ({@link readPlaced}). With the start
 * NOW, assigns positions to all of them ({@link readEndOfFeed}). Throws 422 for an invalid cursor. Throws 409 if the
 * feed cannot continue after the cursor ({@link requireContinuation}).
 */
export async function listEvents(request: ListEventsRequest, call: ReadyCall) {
  const { resourceTypes } = request;
  const size = pageSizeOf(request);
  const filter = { principal: call.principal, resourceTypes };
  const { page, after } = await readFrom(request, call.transaction, resourceTypes.length === 0 ? size : MAX_SCANNED);
  const matching = page.events.filter((event) => matchesFilter(event, filter)).slice(0, size);
  const last = matching.length === size ? matching.at(-1) : page.events.at(-1);
  const position = last?.position ?? after;
  return {
    events: matching.map((event) => toEvent(event, call.principal.tenantId)),
    nextCursor: toCursor({ feedId: page.feedId, position }),
    hasMore: position < page.lastPosition || page.isOutstanding,
  };
}

async function readFrom(
  request: ListEventsRequest,
  transaction: Transaction,
  limit: number,
): Promise<{ readonly page: FeedPage; readonly after: number }> {
  const cursor = cursorOf(request);
  if (cursor !== undefined) {
    const page = await readPlaced(transaction, cursor.position, limit);
    requireContinuation(page, cursor);
    return { page, after: cursor.position };
  }
  const end = await readPlaced(transaction, Number.MAX_SAFE_INTEGER, limit);
  if (request.start === Event_Start.NOW) {
    const page = end.isOutstanding ? await readEndOfFeed(transaction) : end;
    return { page, after: page.lastPosition };
  }
  const after = await findOldestPosition(transaction);
  return { page: await readExistingFeed(transaction, after, limit), after };
}

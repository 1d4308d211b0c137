import type { ReadyCall, Transaction } from "../../call.js";
import { Event_Start } from "../../gen/cupo/clinic/v1/event_pb.js";
import type { ListEventsRequest } from "../../gen/cupo/clinic/v1/event_service_pb.js";
import {
  type FeedPage,
  findOldestPosition,
  placeOutstanding,
  readFeed,
} from "../../postgres/tables/events/event-feed.js";
import { pageSizeOf } from "../resources/pages.js";
import { toCursor } from "./event-cursor.js";
import { toEvent } from "./event-messages.js";
import { isWished, placeOf, requireContinuation } from "./feed-part.js";

/** How many events are looked through for those of some kinds, at most. */
const MAX_SCANNED = 1_000;

/** One page of the feed, for which what has committed is put into it first. */
export async function listEvents(request: ListEventsRequest, call: ReadyCall) {
  const { resourceTypes } = request;
  const size = pageSizeOf(request);
  const wish = { principal: call.principal, resourceTypes };
  const { page, after } = await readFrom(request, call.transaction, resourceTypes.length === 0 ? size : MAX_SCANNED);
  const wished = page.events.filter((event) => isWished(event, wish)).slice(0, size);
  const last = wished.length === size ? wished.at(-1) : page.events.at(-1);
  const position = last?.position ?? after;
  return {
    events: wished.map((event) => toEvent(event, call.principal.tenantId)),
    nextCursor: toCursor({ feedId: page.feedId, position }),
    hasMore: position < page.lastPosition || page.isOutstanding,
  };
}

async function readFrom(
  request: ListEventsRequest,
  transaction: Transaction,
  limit: number,
): Promise<{ readonly page: FeedPage; readonly after: number }> {
  const place = placeOf(request);
  if (place !== undefined) {
    const page = await readPlaced(transaction, place.position, limit);
    requireContinuation(page, place);
    return { page, after: place.position };
  }
  const end = await readPlaced(transaction, Number.MAX_SAFE_INTEGER, limit);
  if (request.start === Event_Start.NOW) return { page: end, after: end.lastPosition };
  const after = await findOldestPosition(transaction);
  return { page: await readBegun(transaction, after, limit), after };
}

async function readPlaced(transaction: Transaction, after: number, limit: number): Promise<FeedPage> {
  const page = await readFeed(transaction, after, limit);
  if (page?.isOutstanding === false) return page;
  placeOutstanding(transaction);
  return readBegun(transaction, after, limit);
}

async function readBegun(transaction: Transaction, after: number, limit: number): Promise<FeedPage> {
  const page = await readFeed(transaction, after, limit);
  if (page === undefined) throw new Error("the feed has not begun");
  return page;
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventHub } from "../../events/event-hub.js";
import type { LiveEvents } from "../../events/live-events.js";
import { Event_Start } from "../../gen/cupo/clinic/v1/event_pb.js";
import type { WatchEventsRequest, WatchEventsResponseSchema } from "../../gen/cupo/clinic/v1/event_service_pb.js";
import type { EventRecord, FeedCursor } from "../../postgres/tables/events/event-feed.js";
import { toCursor } from "./event-cursor.js";
import { toEvent } from "./event-messages.js";
import { cursorOf, matchesFilter, requireContinuation, type WatchFilter } from "./feed-request.js";

type Response = MessageInitShape<typeof WatchEventsResponseSchema>;

/** The dependencies of {@link watchEvents}. */
export interface WatchPorts {
  readonly hub: EventHub;
  /** A stream that has sent nothing for this many milliseconds sends its cursor without events. */
  readonly heartbeatMs: number;
}

const MAX_EVENTS = 200;

/**
 * Returns the events that match `filter` until the signal aborts: first the events after the cursor of the request,
 * then each new event. Without a cursor, begins at `start` of the request: at the oldest event, or now. Throws 422 if
 * the cursor is not valid. Throws 409 if the feed cannot continue after the cursor ({@link requireContinuation}).
 *
 * The stream repeats two steps:
 * - It reads pages of the feed, up to the position at which its {@link LiveEvents} begin.
 * - It follows the live events, until it consumes them too slowly.
 *
 * It subscribes to the live events before it reads the pages, and skips events that it has already sent. So no event is
 * lost or sent twice.
 */
export function watchEvents(
  request: WatchEventsRequest,
  filter: WatchFilter,
  { hub, heartbeatMs }: WatchPorts,
  signal: AbortSignal,
): AsyncIterable<Response> {
  return new Watch(request, filter, hub, heartbeatMs, signal).run();
}

class Watch {
  #cursor: FeedCursor = { feedId: "", position: 0 };
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly request: WatchEventsRequest,
    private readonly filter: WatchFilter,
    private readonly hub: EventHub,
    private readonly heartbeatMs: number,
    private readonly signal: AbortSignal,
  ) {}

  async *run(): AsyncGenerator<Response> {
    let live = await this.hub.watch(this.#tenantId);
    try {
      this.#cursor = await this.#start(live.from);
      for (;;) {
        yield* this.#catchUp(live.from);
        yield* this.#follow(live);
        if (this.signal.aborted) return;
        const again = await this.hub.watch(this.#tenantId);
        live.close();
        live = again;
      }
    } finally {
      live.close();
    }
  }

  get #tenantId(): string {
    return this.filter.principal.tenantId;
  }

  async #start(end: FeedCursor): Promise<FeedCursor> {
    const cursor = cursorOf(this.request);
    if (cursor !== undefined) return cursor;
    if (this.request.start !== Event_Start.OLDEST) return end;
    return { feedId: end.feedId, position: await this.hub.findOldest(this.#tenantId) };
  }

  async *#catchUp(to: FeedCursor): AsyncGenerator<Response> {
    let isThere = this.#cursor.feedId === to.feedId && this.#cursor.position === to.position;
    while (!isThere) {
      const page = await this.hub.read(this.#tenantId, this.#cursor.position);
      requireContinuation(page, this.#cursor);
      yield* this.#give(page.events);
      isThere = this.#cursor.position >= to.position;
    }
    yield* this.#give([]);
  }

  /** Sends live events until the stream consumes them too slowly (`BEHIND`), or until the signal aborts. */
  async *#follow(live: LiveEvents): AsyncGenerator<Response> {
    while (!this.signal.aborted) {
      const quietMs = performance.now() - this.#sentAt;
      const news = await live.next(Math.max(this.heartbeatMs - quietMs, 0), this.signal);
      if (news === "BEHIND") return;
      yield* this.#give(news === "QUIET" ? [] : news);
    }
  }

  /**
   * Moves the cursor past these events and sends the events that match the filter. Then sends the cursor without events
   * if nothing was sent for `heartbeatMs`.
   */
  *#give(events: readonly EventRecord[]): Generator<Response> {
    const { feedId, position: before } = this.#cursor;
    const matching = events.filter((event) => event.position > before && matchesFilter(event, this.filter));
    for (let from = 0; from < matching.length; from += MAX_EVENTS) {
      const part = matching.slice(from, from + MAX_EVENTS);
      this.#cursor = { feedId, position: part.at(-1)?.position ?? before };
      yield this.#toResponse(part);
    }
    this.#cursor = { feedId, position: Math.max(before, events.at(-1)?.position ?? before) };
    if (performance.now() - this.#sentAt >= this.heartbeatMs) yield this.#toResponse([]);
  }

  #toResponse(events: readonly EventRecord[]): Response {
    this.#sentAt = performance.now();
    return { events: events.map((event) => toEvent(event, this.#tenantId)), cursor: toCursor(this.#cursor) };
  }
}

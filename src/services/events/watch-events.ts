import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventHub } from "../../events/event-hub.js";
import type { LiveEvents } from "../../events/live-events.js";
import { Event_Start } from "../../gen/cupo/clinic/v1/event_pb.js";
import type { WatchEventsRequest, WatchEventsResponseSchema } from "../../gen/cupo/clinic/v1/event_service_pb.js";
import type { EventRecord, FeedPlace } from "../../postgres/tables/events/event-feed.js";
import { toCursor } from "./event-cursor.js";
import { toEvent } from "./event-messages.js";
import { isWished, placeOf, requireContinuation, type Wish } from "./feed-part.js";

type Response = MessageInitShape<typeof WatchEventsResponseSchema>;

/** What watching needs beside the request. */
export interface WatchPorts {
  readonly hub: EventHub;
  /** How long nothing is said, at most, in milliseconds. */
  readonly heartbeatMs: number;
}

const MAX_EVENTS = 200;

/**
 * Gives the events behind the place of a request, then each when it comes, until the signal aborts. A watch reads pages of its
 * own until it is where the feed of the process is, and takes what comes from there; one that takes it too slowly does
 * so again. In between it takes part in the feed before it reads, and passes over what it has read, so that nothing is missed and
 * nothing given twice.
 */
export function watchEvents(
  request: WatchEventsRequest,
  wish: Wish,
  { hub, heartbeatMs }: WatchPorts,
  signal: AbortSignal,
): AsyncIterable<Response> {
  return new Watch(request, wish, hub, heartbeatMs, signal).run();
}

class Watch {
  #place: FeedPlace = { feedId: "", position: 0 };
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly request: WatchEventsRequest,
    private readonly wish: Wish,
    private readonly hub: EventHub,
    private readonly heartbeatMs: number,
    private readonly signal: AbortSignal,
  ) {}

  async *run(): AsyncGenerator<Response> {
    let live = await this.hub.watch(this.#tenantId);
    try {
      this.#place = await this.#start(live.from);
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
    return this.wish.principal.tenantId;
  }

  async #start(end: FeedPlace): Promise<FeedPlace> {
    const place = placeOf(this.request);
    if (place !== undefined) return place;
    if (this.request.start !== Event_Start.OLDEST) return end;
    return { feedId: end.feedId, position: await this.hub.findOldest(this.#tenantId) };
  }

  async *#catchUp(to: FeedPlace): AsyncGenerator<Response> {
    let isThere = this.#place.feedId === to.feedId && this.#place.position === to.position;
    while (!isThere) {
      const page = await this.hub.read(this.#tenantId, this.#place.position);
      requireContinuation(page, this.#place);
      yield* this.#give(page.events);
      isThere = this.#place.position >= to.position;
    }
    yield* this.#give([]);
  }

  /** Takes what comes, until it fell behind. */
  async *#follow(live: LiveEvents): AsyncGenerator<Response> {
    while (!this.signal.aborted) {
      const quietMs = performance.now() - this.#toldAt;
      const news = await live.next(Math.max(this.heartbeatMs - quietMs, 0), this.signal);
      if (news === "BEHIND") return;
      yield* this.#give(news === "QUIET" ? [] : news);
    }
  }

  /** Goes on behind these events, and gives those that are wished for; says where it is if it said nothing for long. */
  *#give(events: readonly EventRecord[]): Generator<Response> {
    const { feedId, position: before } = this.#place;
    const wished = events.filter((event) => event.position > before && isWished(event, this.wish));
    for (let from = 0; from < wished.length; from += MAX_EVENTS) {
      const part = wished.slice(from, from + MAX_EVENTS);
      this.#place = { feedId, position: part.at(-1)?.position ?? before };
      yield this.#tell(part);
    }
    this.#place = { feedId, position: Math.max(before, events.at(-1)?.position ?? before) };
    if (performance.now() - this.#toldAt >= this.heartbeatMs) yield this.#tell([]);
  }

  #tell(events: readonly EventRecord[]): Response {
    this.#toldAt = performance.now();
    return { events: events.map((event) => toEvent(event, this.#tenantId)), cursor: toCursor(this.#place) };
  }
}

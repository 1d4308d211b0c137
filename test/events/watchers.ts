import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type EventFeeds, openEventFeeds } from "../../src/events/open-event-feeds.js";
import type { WatchEventsRequest, WatchEventsResponse } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { WatchEventsRequestSchema, WatchEventsResponseSchema } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import type { Database } from "../../src/postgres/database.js";
import { watchEvents } from "../../src/services/events/watch-events.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { principalIn } from "./feed-under-test.js";

/** The event feeds of one process, with their own pool. */
export interface FeedProcess {
  readonly database: Database;
  readonly feeds: EventFeeds;
  /** The reported errors. */
  readonly errors: readonly unknown[];
  /** Watches a tenant. The watcher reads responses immediately unless it is paused. */
  watch(tenantId: string, options?: WatchOptions): Watcher;
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly request?: MessageInitShape<typeof WatchEventsRequestSchema>;
  readonly heartbeatMs?: number;
}

/** A client of a watch. */
export interface Watcher {
  /** All responses so far. */
  readonly responses: readonly WatchEventsResponse[];
  /** The resource ids of the events so far, in order. */
  ids(): string[];
  /** The latest cursor. */
  cursor(): string;
  /** Resolves with the first response. No later event is missed. */
  begun(): Promise<void>;
  /** Resolves when this many events have arrived. */
  has(events: number): Promise<void>;
  /** Stops reading responses. Returns the function that continues. */
  pause(): () => void;
  /** Resolves with the error that ended the watch; undefined if it ended without one. */
  readonly ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

/** Opens the feeds as the service does. */
export function openFeedProcess(url: string): FeedProcess {
  const errors: unknown[] = [];
  const database = openServiceDatabase(url);
  const feeds = openEventFeeds({ database, databaseUrl: url, onError: (error) => errors.push(error) });
  return {
    database,
    feeds,
    errors,
    watch: (tenantId, options) => startWatcher(feeds, tenantId, options),
    async close() {
      await feeds.close();
      await database.close();
    },
  };
}

function startWatcher(
  feeds: EventFeeds,
  tenantId: string,
  { request = {}, heartbeatMs = 15_000 }: WatchOptions = {},
): Watcher {
  const ending = new AbortController();
  const responses: WatchEventsResponse[] = [];
  let passing = Promise.resolve();
  const wanted: WatchEventsRequest = create(WatchEventsRequestSchema, request);
  const filter = { principal: principalIn(tenantId), resourceTypes: wanted.resourceTypes };
  const take = async () => {
    const stream = watchEvents(wanted, filter, { hub: feeds.hub, heartbeatMs }, ending.signal);
    for await (const response of stream) {
      responses.push(create(WatchEventsResponseSchema, response));
      await passing;
    }
  };
  const ended = take().then(
    () => undefined,
    (error: unknown) => error,
  );
  const events = () => responses.flatMap((response) => response.events);
  return {
    responses,
    ended,
    ids: () => events().map(({ resourceId }) => resourceId),
    cursor: () => responses.at(-1)?.cursor ?? "",
    begun: () => eventually(() => responses.length > 0),
    has: (count) => eventually(() => events().length >= count),
    pause() {
      let goOn = () => undefined as void;
      passing = new Promise((resolve) => {
        goOn = resolve;
      });
      return goOn;
    },
    async stop() {
      ending.abort();
      return ended;
    },
  };
}

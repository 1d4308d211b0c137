import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type EventFeeds, openEventFeeds } from "../../src/events/open-event-feeds.js";
import type { WatchEventsRequest, WatchEventsResponse } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { WatchEventsRequestSchema, WatchEventsResponseSchema } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import type { Database } from "../../src/postgres/database.js";
import { watchEvents } from "../../src/services/events/watch-events.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { principalIn } from "./feed-under-test.js";

/** The feeds of one process, on a pool of its own. */
export interface FeedProcess {
  readonly database: Database;
  readonly feeds: EventFeeds;
  /** What was reported. */
  readonly errors: readonly unknown[];
  /** Watches a tenant; takes what comes as it comes unless told otherwise. */
  watch(tenantId: string, terms?: WatchTerms): Watcher;
  close(): Promise<void>;
}

export interface WatchTerms {
  readonly request?: MessageInitShape<typeof WatchEventsRequestSchema>;
  readonly heartbeatMs?: number;
}

/** Somebody who watches. */
export interface Watcher {
  /** Every response so far. */
  readonly responses: readonly WatchEventsResponse[];
  /** The ids of the resources of the events so far, in their order. */
  ids(): string[];
  /** The latest cursor. */
  cursor(): string;
  /** Resolves when the first response has come, from which on nothing is missed. */
  begun(): Promise<void>;
  /** Resolves when so many events have come. */
  has(events: number): Promise<void>;
  /** Takes nothing any more, until it is asked to go on. */
  pause(): () => void;
  /** The error that it ended with; undefined where it ended without one. */
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
    watch: (tenantId, terms) => startWatcher(feeds, tenantId, terms),
    async close() {
      await feeds.close();
      await database.close();
    },
  };
}

function startWatcher(
  feeds: EventFeeds,
  tenantId: string,
  { request = {}, heartbeatMs = 15_000 }: WatchTerms = {},
): Watcher {
  const ending = new AbortController();
  const responses: WatchEventsResponse[] = [];
  let passing = Promise.resolve();
  const wanted: WatchEventsRequest = create(WatchEventsRequestSchema, request);
  const wish = { principal: principalIn(tenantId), resourceTypes: wanted.resourceTypes };
  const take = async () => {
    const stream = watchEvents(wanted, wish, { hub: feeds.hub, heartbeatMs }, ending.signal);
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

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { LiveEvents } from "../../src/events/live-events.js";
import { WatchEventsRequestSchema } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import type { EventRecord, FeedPage } from "../../src/postgres/tables/events/event-feed.js";
import { toCursor } from "../../src/services/events/event-cursor.js";
import { watchEvents } from "../../src/services/events/watch-events.js";
import { principalIn } from "./feed-under-test.js";

const FEED = "0d3e0000-0000-4000-8000-0000000000fe";

test("events that a watch has read itself and also receives after joining the shared reads are returned once", async () => {
  const live = new LiveEvents({ feedId: FEED, position: 5 }, () => undefined);
  const page: FeedPage = { feedId: FEED, events: events(3, 8), lastPosition: 8, isOutstanding: false };
  const hub = { watch: async () => live, read: async () => page, findOldest: async () => 0 };
  live.add(events(6, 7));
  live.add(events(8, 9));
  const ending = new AbortController();
  const request = create(WatchEventsRequestSchema, { cursor: toCursor({ feedId: FEED, position: 2 }) });
  const filter = { principal: principalIn(FEED), resourceTypes: [] };
  const given: (string | undefined)[] = [];
  for await (const response of watchEvents(request, filter, { hub, heartbeatMs: 60_000 }, ending.signal)) {
    given.push(...(response.events ?? []).map(({ eventId }) => eventId));
    if (given.includes("9")) ending.abort();
  }
  expect(given).toEqual(["3", "4", "5", "6", "7", "8", "9"]);
});

function events(from: number, to: number): EventRecord[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    position: from + index,
    eventId: `${from + index}`,
    occurredAt: new Date(0),
    action: "CREATE",
    resourceType: "Patient",
    resourceId: FEED,
    resourceVersion: 1,
    correlationId: FEED,
    organizationId: undefined,
    companyId: undefined,
  }));
}

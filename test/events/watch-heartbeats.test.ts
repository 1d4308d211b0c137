import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveEvents } from "../../src/events/live-events.js";
import { WatchEventsRequestSchema } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { watchEvents } from "../../src/services/events/watch-events.js";
import { principalIn } from "./feed-under-test.js";

const FEED = "0d3e0000-0000-4000-8000-0000000000fe";
const HEARTBEAT_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a heartbeat follows the latest response by the heartbeat's interval, whatever the watch filters out meanwhile", async () => {
  const live = new LiveEvents({ feedId: FEED, position: 5 }, () => undefined);
  const next = vi.spyOn(live, "next");
  const hub = { watch: async () => live, read: () => expect.fail("nothing is missing"), findOldest: async () => 0 };
  const request = create(WatchEventsRequestSchema, {});
  const filter = { principal: principalIn(FEED), resourceTypes: [] };
  const ending = new AbortController();
  const responses: string[] = [];
  const taking = (async () => {
    for await (const { events = [] } of watchEvents(request, filter, { hub, heartbeatMs: HEARTBEAT_MS }, ending.signal))
      responses.push(`${performance.now()}: ${events.map(({ eventId }) => eventId).join()}`);
  })();
  const begin = performance.now();
  await vi.advanceTimersByTimeAsync(10_000);
  live.add([event(6, undefined)]);
  await vi.advanceTimersByTimeAsync(20_000);
  live.add([event(7, "another organization")]);
  await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
  ending.abort();
  await taking;
  expect(responses).toEqual([
    `${begin}: `,
    `${begin + 10_000}: 6`,
    `${begin + 10_000 + HEARTBEAT_MS}: `,
    `${begin + 10_000 + 2 * HEARTBEAT_MS}: `,
  ]);
  expect(next.mock.calls.map(([timeoutMs]) => timeoutMs / 1_000)).toEqual([60, 60, 40, 60, 60]);
});

function event(position: number, organizationId: string | undefined) {
  return {
    position,
    eventId: `${position}`,
    occurredAt: new Date(0),
    action: "CREATE",
    resourceType: "Patient",
    resourceId: FEED,
    resourceVersion: 1,
    correlationId: FEED,
    organizationId,
    companyId: undefined,
  } as const;
}

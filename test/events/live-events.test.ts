import { beforeEach, describe, expect, test } from "vitest";
import { LiveEvents } from "../../src/events/live-events.js";
import type { EventRecord } from "../../src/postgres/tables/events/event-feed.js";

const LONG_MS = 60_000;
const never = new AbortController().signal;

let live: LiveEvents;

beforeEach(() => {
  live = new LiveEvents({ feedId: "feed", position: 0 }, () => undefined);
});

describe("live events", () => {
  test("are given together where several came since, and each once", async () => {
    live.add([event(1)]);
    live.add([event(2), event(3)]);
    expect(await live.next(LONG_MS, never)).toEqual([event(1), event(2), event(3)]);
    expect(await live.next(0, never)).toBe("QUIET");
  });

  test("are waited for, until the time is over or the signal aborts", async () => {
    const waiting = live.next(LONG_MS, never);
    live.add([event(1)]);
    expect(await waiting).toEqual([event(1)]);
    expect(await live.next(1, never)).toBe("QUIET");
    const ending = new AbortController();
    const abandoned = live.next(LONG_MS, ending.signal);
    ending.abort();
    expect(await abandoned).toBe("QUIET");
    expect(await live.next(LONG_MS, ending.signal)).toBe("QUIET");
  });

  test("of which a thousand are kept are given; of more, none", async () => {
    live.add(Array.from({ length: 1_000 }, (_, i) => event(i)));
    expect(await live.next(0, never)).toHaveLength(1_000);
    live.add(Array.from({ length: 999 }, (_, i) => event(i)));
    live.add([event(999), event(1_000)]);
    expect(await live.next(0, never)).toBe("BEHIND");
  });

  test("are none any more for who fell behind, not even what comes later", async () => {
    const waiting = live.next(LONG_MS, never);
    live.fallBehind();
    live.add([event(1)]);
    expect(await waiting).toBe("BEHIND");
    expect(await live.next(0, never)).toBe("BEHIND");
  });
});

function event(position: number): EventRecord {
  return {
    position,
    eventId: `${position}`,
    occurredAt: new Date(0),
    action: "CREATE",
    resourceType: "Patient",
    resourceId: `${position}`,
    resourceVersion: 1,
    correlationId: "",
    organizationId: undefined,
    companyId: undefined,
  };
}

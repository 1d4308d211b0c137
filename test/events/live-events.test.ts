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
  test("are returned together if several have arrived, and each once", async () => {
    live.add([event(1)]);
    live.add([event(2), event(3)]);
    expect(await live.next(LONG_MS, never)).toEqual([event(1), event(2), event(3)]);
    expect(await live.next(0, never)).toBe("QUIET");
  });

  test("are awaited until the timeout or the abort", async () => {
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

  test("are kept up to 1,000; above that the watcher is BEHIND", async () => {
    live.add(Array.from({ length: 1_000 }, (_, i) => event(i)));
    expect(await live.next(0, never)).toHaveLength(1_000);
    live.add(Array.from({ length: 999 }, (_, i) => event(i)));
    live.add([event(999), event(1_000)]);
    expect(await live.next(0, never)).toBe("BEHIND");
  });

  test("are not returned to a watcher that fell behind, not even later ones", async () => {
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

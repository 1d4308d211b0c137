import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEventHub } from "../../src/events/event-hub.js";

const TENANT = "0d3e0000-0000-4000-8000-0000000000a1";
const FEED = "0d3e0000-0000-4000-8000-0000000000fe";
const POLL_MS = 100;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("of several polls that fail in a row the first is reported, and again after a poll that succeeded", async () => {
  const errors: unknown[] = [];
  let failure: string | undefined;
  const hub = createEventHub({
    reader: {
      read: async () => ({ feedId: FEED, lastPosition: 0, isOutstanding: false, events: [] }),
      findOldest: async () => 0,
    },
    findChanged: async () => {
      if (failure !== undefined) throw new Error(failure);
      return new Set();
    },
    listen: () => ({ isReceiving: () => false, close: async () => undefined }),
    onError: (error) => errors.push(error),
  });
  await hub.watch(TENANT);
  for (failure of ["first", "second", undefined, "third", "fourth"]) await vi.advanceTimersByTimeAsync(POLL_MS);
  await hub.close();
  expect(errors).toEqual([new Error("first"), new Error("third")]);
});

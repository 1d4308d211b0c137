import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { QuotaState, RateLimiter } from "../../src/interceptors/rate-limit.js";
import { createMemoryRateLimiter } from "../../src/quotas/memory-rate-limiter.js";

const A = { tenantId: "tenant a", id: "client" };
const B = { tenantId: "tenant b", id: "client" };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("names its quotas, and counts each request against both", async () => {
  const limiter = createMemoryRateLimiter({ perSecond: 2, perMinute: 3 });
  expect(await limiter.count(A)).toEqual([
    { name: "second", quota: 2, windowSeconds: 1, remaining: 1, resetSeconds: 1, exceeded: false },
    { name: "minute", quota: 3, windowSeconds: 60, remaining: 2, resetSeconds: 60, exceeded: false },
  ]);
});

test("counts several requests at once, and never more than a quota has of what none was counted before", async () => {
  const limiter = createMemoryRateLimiter({ perSecond: 5, perMinute: 100 });
  expect((await limiter.count(A, 3)).map(({ remaining }) => remaining)).toEqual([2, 97]);
  expect((await limiter.count(A, 3)).map(({ exceeded }) => exceeded)).toEqual([true, false]);
  expect((await limiter.count(B, 7)).map(({ remaining }) => remaining)).toEqual([0, 93]);
});

describe("the quota of a second", () => {
  test("is exceeded by one request more, and full again when the second is over", async () => {
    const limiter = createMemoryRateLimiter({ perSecond: 2, perMinute: 100 });
    expect(await left(limiter, "second", 3)).toEqual([1, 0, "exceeded"]);
    vi.advanceTimersByTime(999);
    expect(await left(limiter, "second", 1)).toEqual(["exceeded"]);
    vi.advanceTimersByTime(1);
    expect(await left(limiter, "second", 1)).toEqual([1]);
  });
});

describe("the quota of a minute", () => {
  test("is not charged for what the second refuses", async () => {
    const limiter = createMemoryRateLimiter({ perSecond: 2, perMinute: 10 });
    expect(await left(limiter, "minute", 6)).toEqual([9, 8, 8, 8, 8, 8]);
    vi.advanceTimersByTime(1_000);
    expect(await left(limiter, "minute", 1)).toEqual([7]);
  });

  test("is told, with its wait, where the second refuses and nothing of the minute is left", async () => {
    const limiter = createMemoryRateLimiter({ perSecond: 2, perMinute: 2 });
    const [second, minute] = await countTimes(limiter, 3);
    expect(second).toMatchObject({ exceeded: true, resetSeconds: 1 });
    expect(minute).toMatchObject({ exceeded: true, remaining: 0, resetSeconds: 60 });
  });

  test("is exceeded while that of the second is not, and full again when the minute is over", async () => {
    const limiter = createMemoryRateLimiter({ perSecond: 2, perMinute: 3 });
    expect(await left(limiter, "minute", 2)).toEqual([2, 1]);
    vi.advanceTimersByTime(20_000);
    const [second, minute] = await countTimes(limiter, 2);
    expect(second).toMatchObject({ remaining: 0, exceeded: false });
    expect(minute).toMatchObject({ remaining: 0, exceeded: true });
    vi.advanceTimersByTime(39_999);
    expect(await left(limiter, "minute", 1)).toEqual(["exceeded"]);
    vi.advanceTimersByTime(1);
    expect(await left(limiter, "minute", 1)).toEqual([2]);
  });

  test("says in whole seconds, never less than the wait, when it is full again", async () => {
    const limiter = createMemoryRateLimiter({ perSecond: 100, perMinute: 100 });
    await limiter.count(A);
    vi.advanceTimersByTime(22_500);
    expect((await limiter.count(A)).map(({ resetSeconds }) => resetSeconds)).toEqual([1, 38]);
    vi.advanceTimersByTime(37_499);
    expect((await limiter.count(A))[1]?.resetSeconds).toBe(1);
  });
});

test("counts each principal for itself", async () => {
  const limiter = createMemoryRateLimiter({ perSecond: 1, perMinute: 1 });
  await limiter.count(A);
  expect((await limiter.count(A)).map(({ exceeded }) => exceeded)).toEqual([true, true]);
  expect((await limiter.count(B)).map(({ exceeded }) => exceeded)).toEqual([false, false]);
});

test("counts requests that come at once", async () => {
  const limiter = createMemoryRateLimiter({ perSecond: 5, perMinute: 1_000 });
  const all = await Promise.all(Array.from({ length: 20 }, () => limiter.count(A)));
  expect(all.filter(([second]) => second?.exceeded === false)).toHaveLength(5);
});

test("forgets principals that stay away", async () => {
  const limiter = createMemoryRateLimiter({ perSecond: 5, perMinute: 5 });
  await limiter.count(A);
  expect(vi.getTimerCount()).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

/** What each of some requests left of a quota. */
async function left(
  limiter: RateLimiter,
  name: string,
  requests: number,
): Promise<(number | "exceeded" | undefined)[]> {
  const states: (number | "exceeded" | undefined)[] = [];
  for (let i = 0; i < requests; i++) {
    const state = (await limiter.count(A)).find((each) => each.name === name);
    states.push(state?.exceeded ? "exceeded" : state?.remaining);
  }
  return states;
}

/** The quotas after the last of some requests. */
async function countTimes(limiter: RateLimiter, requests: number): Promise<readonly QuotaState[]> {
  let states: readonly QuotaState[] = [];
  for (let i = 0; i < requests; i++) states = await limiter.count(A);
  return states;
}

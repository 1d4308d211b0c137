import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { QuotaState, RateLimiter } from "../../src/interceptors/rate-limit.js";
import { localQuotaStore } from "../../src/quotas/local-quota-store.js";
import type { RateQuotas } from "../../src/quotas/quota-policies.js";
import { createRateLimiter } from "../../src/quotas/rate-limiter.js";

const A = { tenantId: "tenant a", id: "client" };
const B = { tenantId: "tenant b", id: "client" };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("returns its quotas by name, and counts each request against both", async () => {
  const limiter = limiterOf({ perSecond: 2, perMinute: 3 });
  expect(await limiter.count(A)).toEqual([
    { name: "second", quota: 2, windowSeconds: 1, remaining: 1, resetSeconds: 1, exceeded: false },
    { name: "minute", quota: 3, windowSeconds: 60, remaining: 2, resetSeconds: 60, exceeded: false },
  ]);
});

test("counts several requests at once, and charges at most the full quota to an unused one", async () => {
  const limiter = limiterOf({ perSecond: 5, perMinute: 100 });
  expect((await limiter.count(A, 3)).map(({ remaining }) => remaining)).toEqual([2, 97]);
  expect((await limiter.count(A, 3)).map(({ exceeded }) => exceeded)).toEqual([true, false]);
  expect((await limiter.count(B, 7)).map(({ remaining }) => remaining)).toEqual([0, 93]);
});

describe("the quota of a second", () => {
  test("is exceeded by one request too many, and full again after a second", async () => {
    const limiter = limiterOf({ perSecond: 2, perMinute: 100 });
    expect(await left(limiter, "second", 3)).toEqual([1, 0, "exceeded"]);
    vi.advanceTimersByTime(999);
    expect(await left(limiter, "second", 1)).toEqual(["exceeded"]);
    vi.advanceTimersByTime(1);
    expect(await left(limiter, "second", 1)).toEqual([1]);
  });
});

describe("the quota of a minute", () => {
  test("is not charged for requests that exceed the quota of a second", async () => {
    const limiter = limiterOf({ perSecond: 2, perMinute: 10 });
    expect(await left(limiter, "minute", 6)).toEqual([9, 8, 8, 8, 8, 8]);
    vi.advanceTimersByTime(1_000);
    expect(await left(limiter, "minute", 1)).toEqual([7]);
  });

  test("is reported with its own wait if the second rejects a request and the minute is exhausted too", async () => {
    const limiter = limiterOf({ perSecond: 2, perMinute: 2 });
    const [second, minute] = await countTimes(limiter, 3);
    expect(second).toMatchObject({ exceeded: true, resetSeconds: 1 });
    expect(minute).toMatchObject({ exceeded: true, remaining: 0, resetSeconds: 60 });
  });

  test("can be exceeded while that of the second is not, and is full again after a minute", async () => {
    const limiter = limiterOf({ perSecond: 2, perMinute: 3 });
    expect(await left(limiter, "minute", 2)).toEqual([2, 1]);
    vi.advanceTimersByTime(20_000);
    const [second, minute] = await countTimes(limiter, 2);
    expect(second).toMatchObject({ remaining: 1, exceeded: false });
    expect(minute).toMatchObject({ remaining: 0, exceeded: true });
    vi.advanceTimersByTime(39_999);
    expect(await left(limiter, "minute", 1)).toEqual(["exceeded"]);
    vi.advanceTimersByTime(1);
    expect(await left(limiter, "minute", 1)).toEqual([2]);
  });

  test("returns the time until the reset in whole seconds, never less than the wait", async () => {
    const limiter = limiterOf({ perSecond: 100, perMinute: 100 });
    await limiter.count(A);
    vi.advanceTimersByTime(22_500);
    expect((await limiter.count(A)).map(({ resetSeconds }) => resetSeconds)).toEqual([1, 38]);
    vi.advanceTimersByTime(37_499);
    expect((await limiter.count(A))[1]?.resetSeconds).toBe(1);
  });
});

test("counts principals separately", async () => {
  const limiter = limiterOf({ perSecond: 1, perMinute: 1 });
  await limiter.count(A);
  expect((await limiter.count(A)).map(({ exceeded }) => exceeded)).toEqual([true, true]);
  expect((await limiter.count(B)).map(({ exceeded }) => exceeded)).toEqual([false, false]);
});

test("counts concurrent requests", async () => {
  const limiter = limiterOf({ perSecond: 5, perMinute: 1_000 });
  const all = await Promise.all(Array.from({ length: 20 }, () => limiter.count(A)));
  expect(all.filter(([second]) => second?.exceeded === false)).toHaveLength(5);
});

/** Returns what is left of a quota after each of several requests. */
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

/** Returns the quotas after the last of several requests. */
async function countTimes(limiter: RateLimiter, requests: number): Promise<readonly QuotaState[]> {
  let states: readonly QuotaState[] = [];
  for (let i = 0; i < requests; i++) states = await limiter.count(A);
  return states;
}

function limiterOf(quotas: RateQuotas): RateLimiter {
  return createRateLimiter(quotas, { store: localQuotaStore, replicas: 1 });
}

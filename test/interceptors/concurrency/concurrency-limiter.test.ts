import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type ConcurrencyLimits,
  createConcurrencyLimiter,
} from "../../../src/interceptors/concurrency/concurrency-limiter.js";
import type { Permit, PermitRejection, PermitRequest } from "../../../src/interceptors/concurrency-limit.js";

const limits: ConcurrencyLimits = { perPrincipal: 2, perTenant: 3, heavy: 2, heavyPerTenant: 1, maxWaitMs: 2_000 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a permit", () => {
  test("is available up to the limit of a principal", async () => {
    const { take, taken } = open();
    await take(3);
    expect(taken()).toEqual(["a/one", "a/one"]);
  });

  test("is available up to the limit of a tenant, over all its principals", async () => {
    const { take, taken } = open();
    await take(2, { principalId: "one" });
    await take(2, { principalId: "two" });
    expect(taken()).toEqual(["a/one", "a/one", "a/two"]);
  });

  test("is available for another tenant, whatever the first one uses", async () => {
    const { take, taken } = open();
    await take(9);
    await take(1, { tenantId: "b" });
    expect(taken()).toEqual(["a/one", "a/one", "b/one"]);
  });

  test("is available for one heavy call of a tenant and two of all tenants; light calls are not affected", async () => {
    const { take, taken } = open();
    for (const tenantId of ["a", "b", "c"]) await take(2, { tenantId, isHeavy: true });
    await take(1, { principalId: "light" });
    expect(taken()).toEqual(["a/one", "b/one", "a/light"]);
  });
});

test("a limit that is not set admits any number of calls", async () => {
  const { take, taken } = open({ perPrincipal: 9, perTenant: 9, maxWaitMs: 2_000 });
  await take(3, { isHeavy: true });
  await take(3, { isBulk: true });
  expect(taken()).toHaveLength(6);
});

describe("a bulk call", () => {
  const few = { ...limits, bulk: 2, bulkPerTenant: 1 };

  test("runs alone for its tenant, and with few others, and leaves the permits of its principal and tenant", async () => {
    const { take, taken } = open(few);
    for (const tenantId of ["a", "b", "c"]) await take(2, { tenantId, isBulk: true });
    await take(2);
    await take(1, { principalId: "two" });
    expect(taken()).toEqual(["a/one", "b/one", "a/one", "a/one", "a/two"]);
  });

  test("waits for the one before it, and does not use up the turn of its tenant", async () => {
    const { take, taken, releaseFirst } = open({ ...few, all: 1 });
    await take(3, { isBulk: true });
    await take(1, { principalId: "caller" });
    await releaseFirst();
    await releaseFirst();
    expect(taken()).toEqual(["a/one", "a/caller", "a/one"]);
  });
});

describe("a call without a permit", () => {
  test("gets the next released one, in the order of arrival", async () => {
    const { take, taken, releaseFirst } = open();
    await take(2);
    await take(1);
    await take(1, { principalId: "two" });
    await take(1, { principalId: "three" });
    await releaseFirst();
    expect(taken()).toEqual(["a/one", "a/one", "a/two", "a/one"]);
    await releaseFirst();
    expect(taken()).toEqual(["a/one", "a/one", "a/two", "a/one", "a/three"]);
  });

  test("lets a call pass whose limits are not reached", async () => {
    const { take, taken, releaseFirst } = open();
    await take(1, { isHeavy: true });
    await take(1, { isHeavy: true, principalId: "two" });
    await take(1, { principalId: "light" });
    expect(taken()).toEqual(["a/one", "a/light"]);
    await releaseFirst();
    expect(taken()).toEqual(["a/one", "a/light", "a/two"]);
  });

  test("stops waiting after two seconds", async () => {
    const { take, refused, releaseFirst, taken } = open();
    await take(3);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(refused()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(refused()).toBe(1);
    await releaseFirst();
    expect(taken()).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("stops waiting when its caller disconnects", async () => {
    const { take, refused, releaseFirst, taken } = open();
    const caller = new AbortController();
    await take(2);
    await take(1, { signal: caller.signal });
    caller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(refused()).toBe(1);
    await releaseFirst();
    expect(taken()).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("keeps waiting when the caller of a call that has its permit disconnects", async () => {
    const { take, refused, releaseFirst, taken } = open();
    const caller = new AbortController();
    await take(2);
    await take(1, { signal: caller.signal });
    await take(1);
    await releaseFirst();
    caller.abort();
    await releaseFirst();
    expect([taken().length, refused()]).toEqual([4, 0]);
  });

  test("gets none if its caller has disconnected already", async () => {
    const { take, taken, reasons, waiting } = open();
    await take(3, { signal: AbortSignal.abort() });
    expect([taken(), reasons(), waiting()]).toEqual([[], ["PRINCIPAL", "PRINCIPAL", "PRINCIPAL"], 0]);
  });

  test("is rejected if a hundred calls are waiting, and waits again when these have ended", async () => {
    const { take, refused, waiting } = open();
    await take(2 + 100);
    expect(refused()).toBe(0);
    await take(1);
    expect(refused()).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    await take(1);
    expect([refused(), waiting()]).toEqual([101, 1]);
  });
});

test("heavy permits go to the tenants in turn, even if one has a long queue", async () => {
  const { take, taken, releaseFirst } = open();
  for (const tenantId of ["a", "b"]) await take(1, { tenantId, isHeavy: true });
  await take(20, { tenantId: "a", isHeavy: true });
  await take(20, { tenantId: "c", isHeavy: true });
  await take(1, { tenantId: "d", isHeavy: true });
  for (let left = 0; left < 4; left += 1) await releaseFirst();
  expect(taken()).toEqual(["a/one", "b/one", "c/one", "d/one", "a/one", "c/one"]);
});

test("a tenant gets no more than its share for the time in which it was idle", async () => {
  const { take, taken, releaseFirst } = open({ perPrincipal: 9, perTenant: 9, all: 1, maxWaitMs: 2_000 });
  await take(6, { tenantId: "busy" });
  for (let left = 0; left < 3; left += 1) await releaseFirst();
  await take(3, { tenantId: "idle" });
  for (let left = 0; left < 5; left += 1) await releaseFirst();
  expect(taken().slice(4)).toEqual(["idle/one", "idle/one", "busy/one", "idle/one", "busy/one"]);
});

test("releasing a permit twice has no further effect", async () => {
  const limiter = createConcurrencyLimiter({ ...limits, perPrincipal: 1 });
  const release = await limiter.acquire(permitRequest());
  if (typeof release === "string") throw new Error(release);
  release();
  release();
  await limiter.acquire(permitRequest());
  const third = limiter.acquire(permitRequest());
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await third).toBe("PRINCIPAL");
});

test.each<[PermitRejection, ConcurrencyLimits, readonly Partial<PermitRequest>[], Partial<PermitRequest>]>([
  ["PRINCIPAL", { ...limits, perPrincipal: 1, perTenant: 1 }, [{}], {}],
  ["TENANT", { ...limits, perTenant: 1 }, [{ principalId: "two" }], {}],
  ["TENANT", limits, [{ isHeavy: true }], { isHeavy: true }],
  ["HEAVY", { ...limits, heavy: 1 }, [{ tenantId: "b", isHeavy: true }], { isHeavy: true }],
  ["PROCESS", { ...limits, all: 1, heavy: 2 }, [{ tenantId: "b", isHeavy: true }], { isHeavy: true }],
])("a call that waits in vain is rejected with the limit that it reached: %s", async (whose, chosen, atWork, next) => {
  const { take, reasons } = open(chosen);
  for (const changes of [...atWork, next]) await take(1, changes);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(reasons()).toEqual([whose]);
});

describe("with two permits in total and a queue of three,", () => {
  const crowded: ConcurrencyLimits = { ...limits, all: 2, waiting: 3 };

  test("the next call is rejected because of the load of the process", async () => {
    const { take, taken, reasons, releaseFirst, waiting } = open(crowded);
    for (const tenantId of ["a", "b", "c", "d", "e", "f"]) await take(1, { tenantId });
    expect([taken(), waiting()]).toEqual([["a/one", "b/one"], 3]);
    expect(reasons()).toEqual(["PROCESS"]);
    for (let left = 0; left < 3; left += 1) await releaseFirst();
    expect(taken()).toEqual(["a/one", "b/one", "c/one", "d/one", "e/one"]);
  });

  test("a tenant at its own limit is rejected because of that limit", async () => {
    const { take, reasons } = open({ ...crowded, perTenant: 1, all: 3 });
    await take(5);
    expect(reasons()).toEqual(["TENANT"]);
  });

  test("a tenant with few calls takes the queue position of a tenant with many", async () => {
    const { take, taken, reasons, releaseFirst } = open(crowded);
    await take(5, { tenantId: "much" });
    await take(1, { tenantId: "little" });
    expect(reasons()).toEqual(["PRINCIPAL"]);
    await releaseFirst();
    expect(taken()).toEqual(["much/one", "much/one", "little/one"]);
  });

  test("rejectionFor predicts a rejection and acquires nothing", async () => {
    const { take, rejectionFor, waiting } = open(crowded);
    await take(5, { tenantId: "much" });
    expect([rejectionFor("much"), rejectionFor("little"), waiting()]).toEqual(["PRINCIPAL", undefined, 3]);
  });

  test("a call that stopped waiting does not use up the turn of its tenant", async () => {
    const { take, taken, releaseFirst } = open(crowded);
    await take(2, { tenantId: "much" });
    await take(1, { tenantId: "a" });
    await vi.advanceTimersByTimeAsync(2_000);
    await take(2, { tenantId: "b" });
    await take(1, { tenantId: "a" });
    await releaseFirst();
    await releaseFirst();
    expect(taken()).toEqual(["much/one", "much/one", "b/one", "a/one"]);
  });
});

/** Creates a limiter and records the results of the calls. */
function open(chosen = limits) {
  const limiter = createConcurrencyLimiter(chosen);
  const admitted: { readonly who: string; readonly release: Permit }[] = [];
  const reasons: PermitRejection[] = [];
  let left = 0;
  const record = async ({ tenantId, principalId }: PermitRequest, taking: Promise<Permit | PermitRejection>) => {
    const release = await taking;
    if (typeof release === "string") reasons.push(release);
    else admitted.push({ who: `${tenantId}/${principalId}`, release });
  };
  return {
    async take(count: number, changes: Partial<PermitRequest> = {}) {
      for (let i = 0; i < count; i += 1) {
        const wanted = permitRequest(changes);
        void record(wanted, limiter.acquire(wanted));
      }
      await vi.advanceTimersByTimeAsync(0);
    },
    /** Releases the oldest permit that is not released yet. */
    async releaseFirst() {
      admitted[left]?.release();
      left += 1;
      await vi.advanceTimersByTimeAsync(0);
    },
    /** Returns the calls that got a permit, in order, including those that released it. */
    taken: () => admitted.map(({ who }) => who),
    refused: () => reasons.length,
    reasons: () => reasons,
    waiting: () => limiter.waiting,
    rejectionFor: (tenantId: string) => limiter.rejectionFor(permitRequest({ tenantId })),
  };
}

function permitRequest(changes: Partial<PermitRequest> = {}): PermitRequest {
  return {
    tenantId: "a",
    principalId: "one",
    isHeavy: false,
    isBulk: false,
    signal: new AbortController().signal,
    ...changes,
  };
}

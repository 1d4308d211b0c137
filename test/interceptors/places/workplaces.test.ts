import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { NoPlace, Place, Worker } from "../../../src/interceptors/calls-at-work.js";
import { createWorkplaces, type WorkplaceLimits } from "../../../src/interceptors/places/workplaces.js";

const limits: WorkplaceLimits = { perPrincipal: 2, perTenant: 3, heavy: 2, heavyPerTenant: 1, patienceMs: 2_000 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a place", () => {
  test("is there for as many calls of a principal as may be at work", async () => {
    const { take, taken } = open();
    await take(3);
    expect(taken()).toEqual(["a/one", "a/one"]);
  });

  test("is there for as many calls of a tenant as may be at work, whoever they are of", async () => {
    const { take, taken } = open();
    await take(2, { principalId: "one" });
    await take(2, { principalId: "two" });
    expect(taken()).toEqual(["a/one", "a/one", "a/two"]);
  });

  test("is there for another tenant, whatever the first has", async () => {
    const { take, taken } = open();
    await take(9);
    await take(1, { tenantId: "b" });
    expect(taken()).toEqual(["a/one", "a/one", "b/one"]);
  });

  test("is there for one heavy call of a tenant and two of all, and for light ones beside them", async () => {
    const { take, taken } = open();
    for (const tenantId of ["a", "b", "c"]) await take(2, { tenantId, isHeavy: true });
    await take(1, { principalId: "light" });
    expect(taken()).toEqual(["a/one", "b/one", "a/light"]);
  });
});

describe("a call that finds no place", () => {
  test("gets the next that is left, in the order of coming", async () => {
    const { take, taken, leaveFirst } = open();
    await take(2);
    await take(1);
    await take(1, { principalId: "two" });
    await take(1, { principalId: "three" });
    await leaveFirst();
    expect(taken()).toEqual(["a/one", "a/one", "a/two", "a/one"]);
    await leaveFirst();
    expect(taken()).toEqual(["a/one", "a/one", "a/two", "a/one", "a/three"]);
  });

  test("lets one pass that needs less", async () => {
    const { take, taken, leaveFirst } = open();
    await take(1, { isHeavy: true });
    await take(1, { isHeavy: true, principalId: "two" });
    await take(1, { principalId: "light" });
    expect(taken()).toEqual(["a/one", "a/light"]);
    await leaveFirst();
    expect(taken()).toEqual(["a/one", "a/light", "a/two"]);
  });

  test("gives up after two seconds", async () => {
    const { take, refused, leaveFirst, taken } = open();
    await take(3);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(refused()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(refused()).toBe(1);
    await leaveFirst();
    expect(taken()).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives up when its caller goes away", async () => {
    const { take, refused, leaveFirst, taken } = open();
    const caller = new AbortController();
    await take(2);
    await take(1, { signal: caller.signal });
    caller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(refused()).toBe(1);
    await leaveFirst();
    expect(taken()).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("does not wait behind a hundred others", async () => {
    const { take, refused } = open();
    await take(2 + 100);
    expect(refused()).toBe(0);
    await take(1);
    expect(refused()).toBe(1);
  });
});

test("heavy places go to the tenants in turn, however long the line of one is", async () => {
  const { take, taken, leaveFirst } = open();
  for (const tenantId of ["a", "b"]) await take(1, { tenantId, isHeavy: true });
  await take(20, { tenantId: "a", isHeavy: true });
  await take(20, { tenantId: "c", isHeavy: true });
  await take(1, { tenantId: "d", isHeavy: true });
  for (let left = 0; left < 4; left += 1) await leaveFirst();
  expect(taken()).toEqual(["a/one", "b/one", "c/one", "d/one", "a/one", "c/one"]);
});

test("a place that is left twice is left once", async () => {
  const places = createWorkplaces({ ...limits, perPrincipal: 1 });
  const leave = await places.take(worker());
  if (typeof leave === "string") throw new Error(leave);
  leave();
  leave();
  await places.take(worker());
  const third = places.take(worker());
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await third).toBe("LIMIT");
});

describe("where there are places for two calls of all, and three may wait,", () => {
  const crowded: WorkplaceLimits = { ...limits, all: 2, waiting: 3 };

  test("the next is refused, and it is the load of all that stands in its way", async () => {
    const { take, taken, reasons, waiting } = open(crowded);
    for (const tenantId of ["a", "b", "c", "d", "e", "f"]) await take(1, { tenantId });
    expect([taken(), waiting()]).toEqual([["a/one", "b/one"], 3]);
    expect(reasons()).toEqual(["OVERLOAD"]);
  });

  test("it is its own limit that stands in the way of a tenant that has reached that", async () => {
    const { take, reasons } = open({ ...crowded, perTenant: 1, all: 3 });
    await take(5);
    expect(reasons()).toEqual(["LIMIT"]);
  });

  test("a tenant that asks for little has the place in line of one that asks for much", async () => {
    const { take, taken, reasons, leaveFirst } = open(crowded);
    await take(5, { tenantId: "much" });
    await take(1, { tenantId: "little" });
    expect(reasons()).toEqual(["LIMIT"]);
    await leaveFirst();
    expect(taken()).toEqual(["much/one", "much/one", "little/one"]);
  });

  test("what would be refused is known before it comes, and takes nothing", async () => {
    const { take, refusalOf, waiting } = open(crowded);
    await take(5, { tenantId: "much" });
    expect([refusalOf("much"), refusalOf("little"), waiting()]).toEqual(["LIMIT", undefined, 3]);
  });

  test("who gave up waiting has not used up its turn", async () => {
    const { take, taken, leaveFirst } = open(crowded);
    await take(2, { tenantId: "much" });
    await take(1, { tenantId: "a" });
    await vi.advanceTimersByTimeAsync(2_000);
    await take(2, { tenantId: "b" });
    await take(1, { tenantId: "a" });
    await leaveFirst();
    await leaveFirst();
    expect(taken()).toEqual(["much/one", "much/one", "b/one", "a/one"]);
  });
});

/** Places, and what has become of the calls that wanted one. */
function open(chosen = limits) {
  const places = createWorkplaces(chosen);
  const admitted: { readonly who: string; readonly leave: Place }[] = [];
  const reasons: NoPlace[] = [];
  let left = 0;
  const record = async ({ tenantId, principalId }: Worker, taking: Promise<Place | NoPlace>) => {
    const leave = await taking;
    if (typeof leave === "string") reasons.push(leave);
    else admitted.push({ who: `${tenantId}/${principalId}`, leave });
  };
  return {
    async take(count: number, changes: Partial<Worker> = {}) {
      for (let i = 0; i < count; i += 1) {
        const wanted = worker(changes);
        void record(wanted, places.take(wanted));
      }
      await vi.advanceTimersByTimeAsync(0);
    },
    /** Leaves the place of the first call that still has one. */
    async leaveFirst() {
      admitted[left]?.leave();
      left += 1;
      await vi.advanceTimersByTimeAsync(0);
    },
    /** Who got a place, those who left it too. */
    taken: () => admitted.map(({ who }) => who),
    refused: () => reasons.length,
    reasons: () => reasons,
    waiting: () => places.waiting,
    refusalOf: (tenantId: string) => places.refusalOf(worker({ tenantId })),
  };
}

function worker(changes: Partial<Worker> = {}): Worker {
  return { tenantId: "a", principalId: "one", isHeavy: false, signal: new AbortController().signal, ...changes };
}

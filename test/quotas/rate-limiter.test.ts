import { beforeEach, describe, expect, test } from "vitest";
import type { QuotaPrincipal, RateLimiter } from "../../src/interceptors/rate-limit.js";
import type { RateQuotas } from "../../src/quotas/quota-policies.js";
import type { QuotaStore } from "../../src/quotas/quota-store.js";
import { createRateLimiter } from "../../src/quotas/rate-limiter.js";
import { deferred } from "../support/deferred.js";
import { createMemoryStore, type MemoryStore } from "./memory-store.js";

const A: QuotaPrincipal = { tenantId: "tenant a", id: "client" };
const B: QuotaPrincipal = { tenantId: "tenant b", id: "client" };
const REPLICAS = 3;
const MANY = 1_000_000;

let nowMs: number;
let store: MemoryStore;
let said: string[];

beforeEach(() => {
  nowMs = 5_000;
  store = createMemoryStore(() => nowMs);
  said = [];
});

describe("a quota that three processes share", () => {
  test.each(["second", "minute"] as const)("of a %s is let through once in total, not three times", async (name) => {
    const replicas = startThree({
      perSecond: MANY,
      perMinute: MANY,
      ...(name === "second" ? { perSecond: 60 } : { perMinute: 60 }),
    });
    expect(await passed(replicas, 180)).toBe(60);
    nowMs += name === "second" ? 1_000 : 60_000;
    expect(await passed(replicas, 180)).toBe(60);
  });

  test("is let through in full to a caller who sends everything to one process", async () => {
    const [first] = startThree({ perSecond: MANY, perMinute: 600 });
    expect(await passed([first], 700)).toBe(600);
  });

  test("is let through once for concurrent requests", async () => {
    const replicas = startThree({ perSecond: MANY, perMinute: 60 });
    const states = await Promise.all(
      Array.from({ length: 180 }, (_, index) => replicas[(index % 3) as 0 | 1 | 2].count(A)),
    );
    expect(states.filter((each) => each.every(({ exceeded }) => !exceeded))).toHaveLength(60);
  });

  test("stays with a process that a caller leaves, but at most a twelfth of it", async () => {
    const [first, second] = startThree({ perSecond: MANY, perMinute: 600 });
    expect(await passed([first], 1)).toBe(1);
    expect(await passed([second], 700)).toBe(600 - 600 / 12);
  });

  test("is requested from the store by few requests, and by none that is rejected", async () => {
    const replicas = startThree({ perSecond: MANY, perMinute: 600 });
    await passed(replicas, 600);
    const asked = store.asked();
    expect(asked).toBeLessThan(600 / 6);
    expect(await passed(replicas, 600)).toBe(0);
    expect(store.asked() - asked).toBeLessThanOrEqual(REPLICAS);
  });

  test("belongs to one principal", async () => {
    const [first, second] = startThree({ perSecond: MANY, perMinute: 2 });
    expect(await passed([first, second], 4, A)).toBe(2);
    expect(await passed([first, second], 4, B)).toBe(2);
  });
});

describe("several requests that are counted together", () => {
  test("pass if the quota has enough left, and use all of a quota that is smaller than they are", async () => {
    const [first, second] = startThree({ perSecond: MANY, perMinute: 60 });
    expect(await first.count(A, 40)).toMatchObject([{}, { remaining: 20, exceeded: false }]);
    expect(await second.count(A, 30)).toMatchObject([{}, { remaining: 20, exceeded: true }]);
    expect(await second.count(A, 20)).toMatchObject([{}, { remaining: 0, exceeded: false }]);
    expect(await first.count(B, 70)).toMatchObject([{}, { remaining: 0, exceeded: false }]);
  });
});

describe("the quota of a minute", () => {
  test("is not charged for requests that exceed the quota of a second", async () => {
    const replicas = startThree({ perSecond: 3, perMinute: 9 });
    for (let second = 0; second < 3; second++) {
      expect(await passed(replicas, 12)).toBe(3);
      nowMs += 1_000;
    }
    expect(await passed(replicas, 12)).toBe(0);
  });

  test("ends at the same time for each process as for the one that began it", async () => {
    const [first, second] = startThree({ perSecond: MANY, perMinute: 2 });
    await first.count(A);
    nowMs += 20_000;
    expect((await second.count(A))[1]).toMatchObject({ remaining: 0, exceeded: false, resetSeconds: 40 });
    nowMs += 39_999;
    expect((await second.count(A))[1]).toMatchObject({ exceeded: true, resetSeconds: 1 });
    nowMs += 1;
    expect((await second.count(A))[1]).toMatchObject({ remaining: 1, exceeded: false, resetSeconds: 60 });
  });

  test("does not end later because the store answers late", async () => {
    const [first] = startThree({ perSecond: MANY, perMinute: 2 }, async (...question) => {
      const shares = await store.take(...question);
      nowMs += 20_000;
      return shares;
    });
    expect((await first.count(A))[1]).toMatchObject({ remaining: 1, resetSeconds: 40 });
  });
});

describe("the returned quota states", () => {
  test("have the policies, and what is left as this process knows it", async () => {
    const [first, second] = startThree({ perSecond: 50, perMinute: 600 });
    expect(await first.count(A)).toEqual([
      { name: "second", quota: 50, windowSeconds: 1, remaining: 49, resetSeconds: 1, exceeded: false },
      { name: "minute", quota: 600, windowSeconds: 60, remaining: 599, resetSeconds: 60, exceeded: false },
    ]);
    const [, minute] = await second.count(A);
    expect(minute).toMatchObject({ remaining: 549 });
  });

  test("have at most what this process has left", async () => {
    const replicas = startThree({ perSecond: MANY, perMinute: 60 });
    const told: number[] = [];
    for (let count = 0; count < 60; count++) {
      const [, minute] = await replicas[(count % 3) as 0 | 1 | 2].count(A);
      told.push((minute?.remaining ?? 0) + Math.floor(count / 3) + 1);
    }
    expect(Math.max(...told)).toBeLessThanOrEqual(60);
  });
});

describe("while the store does not answer", () => {
  test("each process lets its share through, and logs it once", async () => {
    const replicas = startThree({ perSecond: MANY, perMinute: 60 }, unanswered);
    expect(await passed(replicas, 180)).toBe(60);
    expect(await passed(replicas.slice(0, 1), 60)).toBe(0);
    nowMs += 60_000;
    expect(await passed(replicas.slice(0, 1), 60)).toBe(20);
    expect(said).toEqual(["away", "away", "away"]);
  });

  test("that share is at least one request", async () => {
    const [first] = startThree({ perSecond: MANY, perMinute: 2 }, unanswered);
    expect(await passed([first], 5)).toBe(1);
  });

  test("a process lets its share of the last known rest through", async () => {
    let isAway = false;
    const [first] = startThree({ perSecond: MANY, perMinute: 60 }, async (...question) =>
      isAway ? unanswered() : store.take(...question),
    );
    expect(await passed([first], 5)).toBe(5);
    isAway = true;
    expect(await passed([first], 60)).toBe(Math.floor(55 / 3));
  });

  test("the store is not called for each request, and is called again after a while", async () => {
    let asked = 0;
    let isAway = true;
    const [first] = startThree({ perSecond: 1, perMinute: MANY }, async (...question) => {
      asked += 1;
      return isAway ? unanswered() : store.take(...question);
    });
    await passed([first], 20);
    nowMs += 4_999;
    await passed([first], 20);
    expect(asked).toBe(1);
    isAway = false;
    nowMs += 60_001;
    expect(await passed([first], 20)).toBe(1);
    expect(said).toEqual(["away", "back"]);
  });

  test("the store is called once in 5 s, however long it does not answer", async () => {
    let asked = 0;
    const [first] = startThree({ perSecond: 1, perMinute: MANY }, () => {
      asked += 1;
      return unanswered();
    });
    for (let call = 1; call <= 3; call += 1) {
      await passed([first], 2);
      nowMs += 1_000;
      await passed([first], 2);
      expect(asked).toBe(call);
      nowMs += 5_000;
    }
  });

  test("each absence of the store is logged once, and each return", async () => {
    let isAway = false;
    const [first] = startThree({ perSecond: 1, perMinute: MANY }, (...question) =>
      isAway ? unanswered() : store.take(...question),
    );
    for (const turn of [true, true, false, false, true, false]) {
      isAway = turn;
      await passed([first], 2);
      nowMs += 60_000;
    }
    expect(said).toEqual(["away", "back", "away", "back"]);
  });
});

test("requests that arrive during a call to the store wait for that call", async () => {
  const answer = deferred();
  let asked = 0;
  const [first] = startThree({ perSecond: MANY, perMinute: 600 }, async (...question) => {
    asked += 1;
    await answer.promise;
    return store.take(...question);
  });
  const waiting = Promise.all(Array.from({ length: 50 }, () => first.count(A)));
  answer.resolve();
  expect((await waiting).filter(([, minute]) => minute?.exceeded === false)).toHaveLength(50);
  expect(asked).toBe(1);
});

type Three = readonly [RateLimiter, RateLimiter, RateLimiter];

function startThree(quotas: RateQuotas, take: QuotaStore["take"] = (...question) => store.take(...question)): Three {
  const start = () =>
    createRateLimiter(quotas, {
      store: { take },
      replicas: REPLICAS,
      onAway: () => said.push("away"),
      onBack: () => said.push("back"),
      elapsed: () => nowMs,
    });
  return [start(), start(), start()];
}

function unanswered(): Promise<never> {
  return Promise.reject(new Error("no answer"));
}

/** Returns how many of several requests pass, sent to the processes in turn. */
async function passed(replicas: readonly RateLimiter[], requests: number, principal = A): Promise<number> {
  let count = 0;
  for (let index = 0; index < requests; index++) {
    const states = (await replicas[index % replicas.length]?.count(principal)) ?? [];
    if (states.every(({ exceeded }) => !exceeded)) count += 1;
  }
  return count;
}

import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createConcurrencyLimiter } from "../../../src/interceptors/concurrency/concurrency-limiter.js";
import type { ConcurrencyLimiter, Permit, PermitRejection } from "../../../src/interceptors/concurrency-limit.js";

const [PERMITS, WAITING, CROWD, STEPS] = [10, 100, 100, 1_500];
/** Steps between two calls of the other tenant, which so uses a third of an equal share. */
const EVERY = 300;
const limits = { perPrincipal: 4, perTenant: 6, all: PERMITS, waiting: WAITING, maxWaitMs: 2_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a hundred tenants with five times the possible load: full throughput, equal shares, and no long wait for a tenant with few calls", async () => {
  const { done, other, longestQueue } = await crowd(createConcurrencyLimiter(limits));
  expect(longestQueue).toBe(WAITING);
  expect(other.refused).toBe(0);
  expect(other.longestWait).toBeLessThanOrEqual(PERMITS);
  expect(done.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(STEPS - PERMITS);
  expect(Math.max(...done) - Math.min(...done)).toBeLessThanOrEqual(3);
});

test("the simulation detects permits in order of arrival", async () => {
  const { other } = await crowd(firstComeFirstServed(WAITING));
  expect(other.refused).toBeGreaterThan(0);
});

test("the simulation detects an unlimited queue", async () => {
  const { other, longestQueue } = await crowd(firstComeFirstServed(Number.POSITIVE_INFINITY));
  expect(longestQueue).toBeGreaterThan(WAITING);
  expect(other.longestWait).toBeGreaterThan(PERMITS);
});

/**
 * Simulates a crowd of tenants with five calls per step, while one call finishes per step, the oldest first. The other
 * tenant calls now and then. Waits are in steps.
 */
async function crowd(limiter: ConcurrencyLimiter & { readonly waiting: number }) {
  const atWork: { readonly tenant: number; readonly release: Permit }[] = [];
  const done = Array.from({ length: CROWD + 1 }, () => 0);
  const other = { refused: 0, longestWait: 0 };
  let [step, longestQueue] = [0, 0];
  const ask = async (tenant: number) => {
    const permitRequest = { tenantId: `tenant ${tenant}`, principalId: "one", isHeavy: false, isBulk: false };
    const askedAt = step;
    const permit = await limiter.acquire({ ...permitRequest, signal: new AbortController().signal });
    if (tenant === CROWD) other.longestWait = Math.max(other.longestWait, step - askedAt);
    if (typeof permit !== "string") atWork.push({ tenant, release: permit });
    else if (tenant === CROWD) other.refused += 1;
  };
  for (; step < STEPS; step += 1) {
    for (let i = 0; i < 5; i += 1) void ask((step * 5 + i) % CROWD);
    if (step % EVERY === 0) void ask(CROWD);
    longestQueue = Math.max(longestQueue, limiter.waiting);
    const oldest = atWork.shift();
    if (oldest !== undefined) done[oldest.tenant] = (done[oldest.tenant] ?? 0) + 1;
    oldest?.release();
    await setImmediate();
  }
  return { done: done.slice(0, CROWD), other, longestQueue };
}

/** A limiter without fairness. */
function firstComeFirstServed(most: number): ConcurrencyLimiter & { readonly waiting: number } {
  const line: ((permit: Permit) => void)[] = [];
  let free = PERMITS;
  const release = () => {
    const next = line.shift();
    if (next === undefined) free += 1;
    else next(release);
  };
  const rejectionFor = (): PermitRejection | undefined => (free === 0 && line.length >= most ? "PROCESS" : undefined);
  return {
    get waiting() {
      return line.length;
    },
    rejectionFor,
    async acquire() {
      const refusal = rejectionFor();
      if (refusal !== undefined) return refusal;
      if (free === 0) return new Promise((resolve) => line.push(resolve));
      free -= 1;
      return release;
    },
  };
}

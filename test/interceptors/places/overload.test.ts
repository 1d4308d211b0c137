import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { NoPlace, Place, Workplaces } from "../../../src/interceptors/calls-at-work.js";
import { createWorkplaces } from "../../../src/interceptors/places/workplaces.js";

const [PLACES, WAITING, CROWD, STEPS] = [10, 100, 100, 1_500];
/** In so many steps the other tenant asks once: for a third of an equal part. */
const EVERY = 300;
const limits = { perPrincipal: 4, perTenant: 6, all: PLACES, waiting: WAITING, patienceMs: 2_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("while a hundred tenants ask for five times of what can be done, all that can be done is, each has its part, and who asks for less is not kept waiting", async () => {
  const { done, other, longestLine } = await crowd(createWorkplaces(limits));
  expect(longestLine).toBe(WAITING);
  expect(other.refused).toBe(0);
  expect(other.longestWait).toBeLessThanOrEqual(PLACES);
  expect(done.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(STEPS - PLACES);
  expect(Math.max(...done) - Math.min(...done)).toBeLessThanOrEqual(3);
});

test("that a place goes to whoever came first would be noticed", async () => {
  const { other } = await crowd(firstComeFirstServed(WAITING));
  expect(other.refused).toBeGreaterThan(0);
});

test("that whoever comes may wait would be noticed", async () => {
  const { other, longestLine } = await crowd(firstComeFirstServed(Number.POSITIVE_INFINITY));
  expect(longestLine).toBeGreaterThan(WAITING);
  expect(other.longestWait).toBeGreaterThan(PLACES);
});

/**
 * Has a crowd of tenants ask for five calls in each step, in which one is done, those at work the longest first; and the other tenant
 * now and then. Waits are in steps.
 */
async function crowd(places: Workplaces & { readonly waiting: number }) {
  const atWork: { readonly tenant: number; readonly leave: Place }[] = [];
  const done = Array.from({ length: CROWD + 1 }, () => 0);
  const other = { refused: 0, longestWait: 0 };
  let [step, longestLine] = [0, 0];
  const ask = async (tenant: number) => {
    const worker = { tenantId: `tenant ${tenant}`, principalId: "one", isHeavy: false };
    const askedAt = step;
    const place = await places.take({ ...worker, signal: new AbortController().signal });
    if (tenant === CROWD) other.longestWait = Math.max(other.longestWait, step - askedAt);
    if (typeof place !== "string") atWork.push({ tenant, leave: place });
    else if (tenant === CROWD) other.refused += 1;
  };
  for (; step < STEPS; step += 1) {
    for (let i = 0; i < 5; i += 1) void ask((step * 5 + i) % CROWD);
    if (step % EVERY === 0) void ask(CROWD);
    longestLine = Math.max(longestLine, places.waiting);
    const oldest = atWork.shift();
    if (oldest !== undefined) done[oldest.tenant] = (done[oldest.tenant] ?? 0) + 1;
    oldest?.leave();
    await setImmediate();
  }
  return { done: done.slice(0, CROWD), other, longestLine };
}

/** A line that nobody has a turn in. */
function firstComeFirstServed(most: number): Workplaces & { readonly waiting: number } {
  const line: ((place: Place) => void)[] = [];
  let free = PLACES;
  const leave = () => {
    const next = line.shift();
    if (next === undefined) free += 1;
    else next(leave);
  };
  const refusalOf = (): NoPlace | undefined => (free === 0 && line.length >= most ? "OVERLOAD" : undefined);
  return {
    get waiting() {
      return line.length;
    },
    refusalOf,
    async take() {
      const refusal = refusalOf();
      if (refusal !== undefined) return refusal;
      if (free === 0) return new Promise((resolve) => line.push(resolve));
      free -= 1;
      return leave;
    },
  };
}

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keptMeasurement } from "../../src/telemetry/metrics/kept-measurement.js";
import { deferred } from "../support/deferred.js";

const terms = { maxAgeMs: 10_000, patienceMs: 1_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("what was measured is kept for a while, however often it is asked for", async () => {
  let measured = 0;
  const read = keptMeasurement(async () => ++measured, terms);
  expect([await read(), await read()]).toEqual([1, 1]);
  vi.advanceTimersByTime(9_999);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await read()).toBe(2);
});

test("what does not come in time is not known, is not asked for twice, and is there when it has come", async () => {
  const late = deferred();
  let asked = 0;
  const read = keptMeasurement(() => {
    asked += 1;
    return late.promise.then(() => 7);
  }, terms);
  const first = read();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await first).toBeUndefined();
  vi.advanceTimersByTime(20_000);
  const second = read();
  late.resolve();
  expect([await second, asked]).toEqual([7, 1]);
});

test("what failed is not known, and nothing older is told in its place", async () => {
  const outcomes = [async () => 1, async () => Promise.reject(new Error("away")), async () => 3];
  const read = keptMeasurement(() => outcomes.shift()?.() ?? Promise.reject(new Error("over")), terms);
  const seen: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    seen.push(await read());
    vi.advanceTimersByTime(10_000);
  }
  expect(seen).toEqual([1, undefined, 3]);
});

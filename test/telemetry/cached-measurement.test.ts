import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cachedMeasurement } from "../../src/telemetry/metrics/cached-measurement.js";
import { deferred } from "../support/deferred.js";

const options = { maxAgeMs: 10_000, timeoutMs: 1_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a measurement is kept for a while, however often it is read", async () => {
  let measured = 0;
  const read = cachedMeasurement(async () => ++measured, options);
  expect([await read(), await read()]).toEqual([1, 1]);
  vi.advanceTimersByTime(9_999);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await read()).toBe(2);
});

test("a late measurement is unknown, is not started twice, and is available once it has arrived", async () => {
  const late = deferred();
  let asked = 0;
  const read = cachedMeasurement(() => {
    asked += 1;
    return late.promise.then(() => 7);
  }, options);
  const first = read();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await first).toBeUndefined();
  vi.advanceTimersByTime(20_000);
  const second = read();
  late.resolve();
  expect([await second, asked]).toEqual([7, 1]);
});

test("a failed measurement is unknown, and no older one replaces it", async () => {
  const outcomes = [async () => 1, async () => Promise.reject(new Error("away")), async () => 3];
  const read = cachedMeasurement(() => outcomes.shift()?.() ?? Promise.reject(new Error("over")), options);
  const seen: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    seen.push(await read());
    vi.advanceTimersByTime(10_000);
  }
  expect(seen).toEqual([1, undefined, 3]);
});

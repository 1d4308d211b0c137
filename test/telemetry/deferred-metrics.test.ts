import { expect, test } from "vitest";
import { deferMetrics } from "../../src/telemetry/metrics/deferred-metrics.js";
import type { LiveMetrics } from "../../src/telemetry/metrics/live-metrics.js";

const live = { close: async () => undefined } as unknown as LiveMetrics;

test("records made before the instruments exist are applied in order when they are loaded, later ones at once", async () => {
  const told: string[] = [];
  const metrics = deferMetrics(async () => live);
  metrics.tell(() => told.push("first"));
  metrics.tell(() => told.push("second"));
  expect(told).toEqual([]);
  expect(await Promise.all([metrics.load(), metrics.load()])).toEqual([live, live]);
  metrics.tell((given) => told.push(given === live ? "third" : "another"));
  expect(told).toEqual(["first", "second", "third"]);
});

test("after a failed load, the next call loads the instruments and applies all earlier records", async () => {
  const told: string[] = [];
  let attempts = 0;
  const metrics = deferMetrics(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error("not yet");
    return live;
  });
  metrics.tell(() => told.push("kept"));
  await expect(metrics.load()).rejects.toThrow("not yet");
  expect(await metrics.load()).toBe(live);
  expect([attempts, told]).toEqual([2, ["kept"]]);
});

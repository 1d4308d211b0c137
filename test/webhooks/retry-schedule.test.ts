import { assert, double, infiniteStream, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { longestPauseMs, pauseMs, RETRY_HOURS } from "../../src/webhooks/retry-schedule.js";

const attempts = integer({ min: 1, max: 10_000 });
const random = double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("a pause is from 1 s to the longest pause, whole milliseconds, and grows with the random number", () => {
  assert(
    property(attempts, random, random, (n, one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      expect(pauseMs(n, low)).toBeLessThanOrEqual(pauseMs(n, high));
      for (const pause of [pauseMs(n, low), pauseMs(n, high)]) {
        expect(Number.isInteger(pause)).toBe(true);
        expect(pause).toBeGreaterThanOrEqual(1_000);
        expect(pause).toBeLessThanOrEqual(longestPauseMs(n));
      }
    }),
  );
});

test("the longest pause is 5 s, doubles with each attempt and ends at 8 h", () => {
  expect([1, 2, 3, 4].map(longestPauseMs)).toEqual([5_000, 10_000, 20_000, 40_000]);
  assert(
    property(attempts, (n) => {
      expect(longestPauseMs(n + 1)).toBe(Math.min(2 * longestPauseMs(n), 8 * 3_600_000));
    }),
  );
});

test("within 72 h an event is sent often enough, and not too often", () => {
  assert(
    property(infiniteStream(random), (stream) => {
      const end = RETRY_HOURS * 3_600_000;
      let [sent, atMs] = [0, 0];
      while (atMs < end) {
        sent += 1;
        const { value } = stream.next();
        atMs += pauseMs(sent, 0.25 + value / 2);
      }
      expect(sent).toBeGreaterThan(15);
      expect(sent).toBeLessThan(60);
    }),
  );
});

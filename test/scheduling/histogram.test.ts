import * as fc from "fast-check";
import { expect, test } from "vitest";
import { statisticsOf } from "../../src/scheduling/histogram.js";
import { measure } from "../jobs/indicator-oracle.js";

test("has the count, the sum, the mean, the median and the 90th percentile of its waits", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), (days) => {
      const histogram = days.reduce((sum, each) => sum + 10n ** BigInt(8 * each), 0n);
      expect(statisticsOf(histogram.toString())).toEqual({
        mean: undefined,
        median: undefined,
        p90: undefined,
        ...measure(days),
      });
    }),
  );
});

test("counts up to 99,999,999 waits of a number of days", () => {
  expect(statisticsOf("9999999900000001")).toMatchObject({ count: 100_000_000, sum: 99_999_999, median: 1 });
});

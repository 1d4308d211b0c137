/** Statistics of waits, in days. Mean, median and 90th percentile are undefined without waits. */
export interface DayStatistics {
  readonly count: number;
  readonly sum: number;
  readonly mean: number | undefined;
  /** The middle wait, or the mean of the two middle waits. */
  readonly median: number | undefined;
  /** The smallest number of days for which at least 90 % of the waits are this long or shorter. */
  readonly p90: number | undefined;
}

const DIGITS = 8;

/**
 * Returns the statistics of a histogram of waits. The histogram is a decimal number in groups of eight digits. The last
 * group counts the waits of 0 days, the group before it counts the waits of 1 day, and so on. Example: `300000002`
 * means two waits of 0 days and three waits of 1 day.
 */
export function statisticsOf(histogram: string): DayStatistics {
  const counts: number[] = [];
  for (let end = histogram.length; end > 0; end -= DIGITS) {
    counts.push(Number(histogram.slice(Math.max(end - DIGITS, 0), end)));
  }
  const count = counts.reduce((total, waits) => total + waits, 0);
  const sum = counts.reduce((total, waits, days) => total + waits * days, 0);
  if (count === 0) return { count, sum, mean: undefined, median: undefined, p90: undefined };
  const median = (daysOf(counts, Math.ceil(count / 2)) + daysOf(counts, Math.floor(count / 2) + 1)) / 2;
  return { count, sum, mean: sum / count, median, p90: daysOf(counts, Math.ceil((count * 9) / 10)) };
}

/**
 * Returns the number of days of the n-th shortest wait. `n` starts at 1. `counts` has the number of waits of 0 days, of
 * 1 day, and so on.
 */
function daysOf(counts: readonly number[], n: number): number {
  let passed = 0;
  return counts.findIndex((waits) => {
    passed += waits;
    return passed >= n;
  });
}

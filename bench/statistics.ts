/** Times of calls in milliseconds, and their rate. */
export interface Speed {
  /** Calls a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Returns the value in the middle; of two in the middle, the lower one. Expects at least one value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return at(sorted, Math.floor((sorted.length - 1) / 2));
}

/** Returns the value that this share of the values, 0 to 1, does not exceed. Expects at least one value. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return at(sorted, Math.min(sorted.length - 1, Math.floor(sorted.length * share)));
}

/** Returns the speed of calls from the time of each, in milliseconds, and the duration of all, in seconds. */
export function speedOf(times: readonly number[], seconds: number): Speed {
  return { rate: times.length / seconds, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

/** Returns the median of the ratios of the rounds. Other work of the machine slows both sides of a round alike. */
export function ratioOfRounds(own: readonly number[], others: readonly number[]): number {
  return median(own.map((value, round) => value / at(others, round)));
}

/** Returns the median of one figure of several runs. */
export function medianOf<T>(runs: readonly T[], pick: (run: T) => number): number {
  return median(runs.map(pick));
}

function at(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new Error("nothing was measured");
  return value;
}

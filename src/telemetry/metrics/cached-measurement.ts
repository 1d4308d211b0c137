/**
 * Limits of a cached measurement, in milliseconds. `maxAgeMs` is the age after which the value is measured again.
 * `timeoutMs` is how long a caller waits for a measurement.
 */
export interface MeasurementCacheOptions {
  readonly maxAgeMs: number;
  readonly timeoutMs: number;
}

/**
 * Returns a function that measures at most once per `maxAgeMs`, one measurement at a time. The function resolves to
 * undefined if the last measurement failed or does not finish within `timeoutMs`. So it never returns an outdated
 * value.
 */
export function cachedMeasurement<T>(
  measure: () => Promise<T>,
  { maxAgeMs, timeoutMs }: MeasurementCacheOptions,
): () => Promise<T | undefined> {
  let begunAt = Number.NEGATIVE_INFINITY;
  let latest: Promise<T | undefined> = Promise.resolve(undefined);
  let isUnderWay = false;
  return () => {
    if (!isUnderWay && performance.now() - begunAt >= maxAgeMs) {
      begunAt = performance.now();
      isUnderWay = true;
      latest = measure()
        .catch(() => undefined)
        .finally(() => (isUnderWay = false));
    }
    return within(timeoutMs, latest);
  };
}

function within<T>(ms: number, awaited: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([awaited, late]).finally(() => clearTimeout(timer));
}

/**
 * Limits of a cached measurement, in milliseconds. `maxAgeMs` is the age after which the value is measured again.
 * `timeoutMs` is how long a caller waits for a measurement; after that, the caller gets undefined.
 */
export interface MeasurementCacheOptions {
  readonly maxAgeMs: number;
  readonly timeoutMs: number;
}

/**
 * Returns a function that resolves to the latest measured value. It calls `measure` at most once per `maxAgeMs`, and
 * never twice at the same time. It resolves to undefined if the latest measurement failed, or does not finish within
 * `timeoutMs` of the call.
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

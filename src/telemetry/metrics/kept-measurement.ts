/** How old what is kept gets, and how long whoever asks waits for something newer, in milliseconds. */
export interface KeepingTerms {
  readonly maxAgeMs: number;
  readonly patienceMs: number;
}

/**
 * Measures at most once in a while, however often it is asked, and one at a time. Undefined where the last measurement failed,
 * or does not come in time: what is not known any more is not told.
 */
export function keptMeasurement<T>(
  measure: () => Promise<T>,
  { maxAgeMs, patienceMs }: KeepingTerms,
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
    return within(patienceMs, latest);
  };
}

function within<T>(ms: number, awaited: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([awaited, late]).finally(() => clearTimeout(timer));
}

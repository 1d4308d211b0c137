/**
 * Resolves or rejects as `promise` does. Resolves with undefined if the signal aborts first. The listener on the signal
 * is removed when `promise` settles, even if it settles after the abort.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(undefined);
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/** Yields the items until they end or the signal aborts. An abort also ends the wait for the next item. */
export async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessAborted(iterator.next(), signal);
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

/** Resolves after `ms` milliseconds or when the signal aborts, and removes its timer and its listener. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

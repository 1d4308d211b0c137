/** Asks whether the server, or one of its services, can take requests. No method rejects. */
export interface Probe {
  /** Asks now and returns the answer. */
  now(): Promise<boolean>;
  /**
   * Returns the answer of the last `recent` if that is still awaited or began less than `maxAgeMs` milliseconds ago.
   * Otherwise asks now.
   */
  recent(): Promise<boolean>;
}

/**
 * Creates a probe that asks by calling `ask`. An exception or a rejection of `ask` counts as false. `maxAgeMs` is the
 * maximum age of an answer that {@link Probe.recent} returns.
 */
export function createProbe(ask: () => boolean | Promise<boolean>, maxAgeMs: number): Probe {
  let last: { readonly answer: Promise<boolean>; readonly at: number } | undefined;
  let isAwaited = false;
  const now = async () => {
    try {
      return await ask();
    } catch {
      return false;
    }
  };
  const recent = () => {
    if (last !== undefined && (isAwaited || performance.now() - last.at < maxAgeMs)) return last.answer;
    isAwaited = true;
    const answer = now().finally(() => {
      isAwaited = false;
    });
    last = { answer, at: performance.now() };
    return answer;
  };
  return { now, recent };
}

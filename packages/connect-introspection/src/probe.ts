/** Checks whether the server, or one of its services, can take requests. No method rejects. */
export interface Probe {
  /** Checks now whether the server or service can take requests, and returns the result. */
  now(): Promise<boolean>;
  /**
   * Returns the result of the last check that `recent` started, if this check still runs or began less than `maxAgeMs`
   * milliseconds ago. Otherwise checks now.
   */
  recent(): Promise<boolean>;
}

/**
 * Creates a probe that checks by calling `ask`. An exception or a rejection of `ask` counts as false. `maxAgeMs` is the
 * maximum age, in milliseconds, of a result that {@link Probe.recent} returns.
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

/** Asks a program whether it, or one of its services, can take requests. Never rejects. */
export interface Probe {
  /** Asks now. */
  now(): Promise<boolean>;
  /** Returns the last answer if it was asked for less than `maxAgeMs` ago or is still awaited. Otherwise asks now. */
  recent(): Promise<boolean>;
}

/** Creates a probe. An exception and a rejection of `ask` count as false. */
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

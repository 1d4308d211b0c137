/** A place in the write-ahead log of a primary. */
export interface LogPosition {
  /** The timeline that the primary writes, which another one that takes its place does not. */
  readonly timeline: number;
  /** A pg_lsn, as text. */
  readonly position: string;
}

/**
 * Gives positions behind all that was committed when it was called. Whoever calls while a question is on its way waits for the
 * next one, since the answer to the earlier may be older than the call; so there is one question at a time, for however many calls.
 */
export function createReadIndex(ask: () => Promise<LogPosition>): () => Promise<LogPosition> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<LogPosition> | undefined;
  const askBehind = async (earlier: Promise<unknown>) => {
    await earlier.catch(ignore);
    next = undefined;
    return ask();
  };
  return () => {
    if (next === undefined) {
      next = askBehind(last);
      last = next;
    }
    return next;
  };
}

function ignore(): void {}

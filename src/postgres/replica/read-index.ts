/** A position in the write-ahead log of a primary. */
export interface LogPosition {
  /** The timeline that the primary writes. A promoted standby writes a new timeline. */
  readonly timeline: number;
  /** A pg_lsn, as text. */
  readonly position: string;
}

/**
 * Returns a function that resolves to a log position. All commits before the call are before this position. A call
 * during a running query waits for the next query, because the result of the running query may be older than the call.
 * So at most one query runs at a time, however many calls wait.
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

/** A position in the write-ahead log of a primary. */
export interface LogPosition {
  /** The timeline that the primary writes. A promoted standby writes a new timeline. */
  readonly timeline: number;
  /** A value of the PostgreSQL type `pg_lsn`, as text. */
  readonly position: string;
}

/**
 * Returns a function that asks the primary for its log position. The log up to this position has every commit from
 * before the call of the function.
 *
 * A call uses a query that starts after the call, because a query that is already running may have read an older
 * position. Calls that arrive during a query share the next query. So at most one query runs at a time.
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

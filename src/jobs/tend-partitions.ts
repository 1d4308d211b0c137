import type { Logger } from "pino";
import { tendNextPartition } from "../postgres/partitions.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { classifyFailure } from "../postgres/sql-errors.js";

/** What tending partitions needs. */
export interface TendingPorts {
  readonly database: TransactionSource;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of each partition that is made or dropped. */
  readonly logger: Pick<Logger, "info">;
}

/**
 * Makes the partitions of the months to come and drops those that are past their retention, one in a transaction, and gives what
 * it did. Where calls have a table for long the rest is left to the next time. A signal ends it behind the one at hand.
 */
export async function tendPartitions({ database, now, logger }: TendingPorts, signal?: AbortSignal): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const done = await tendNextPartition(database, now()).catch(leaveWhereBusy);
    if (done === undefined) return all;
    logger.info({ partition: done }, "partitions were tended");
    all.push(done);
    if (signal?.aborted === true) return all;
  }
}

function leaveWhereBusy(error: unknown): undefined {
  const failure = classifyFailure(error);
  if (failure !== "LOCK_TIMEOUT" && failure !== "RETRY") throw error;
}

import type { Logger } from "pino";
import { tendNextPartition } from "../postgres/partitions.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { classifyFailure } from "../postgres/sql-errors.js";

/** Dependencies of partition maintenance. */
export interface TendingPorts {
  readonly database: TransactionSource;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Logs each partition that is created or dropped. */
  readonly logger: Pick<Logger, "info">;
}

/**
 * Creates partitions for the coming months and drops partitions that are past their retention, each in its own
 * transaction. Returns a text for each change. If calls hold a lock on a table for too long, the next run makes the
 * remaining changes. An aborted signal stops the job after the current partition. Rejects with any other error of
 * {@link tendNextPartition}.
 */
export async function tendPartitions({ database, now, logger }: TendingPorts, signal?: AbortSignal): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const done = await tendNextPartition(database, now()).catch(leaveWhereBusy);
    if (done === undefined) return all;
    logger.info({ partition: done }, "partition created or dropped");
    all.push(done);
    if (signal?.aborted === true) return all;
  }
}

function leaveWhereBusy(error: unknown): undefined {
  const failure = classifyFailure(error);
  if (failure !== "LOCK_TIMEOUT" && failure !== "RETRY") throw error;
}

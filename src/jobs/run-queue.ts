import { setTimeout as delay } from "node:timers/promises";
import type { CronItem, Runner, TaskList } from "graphile-worker";
import type { JobQueuePool } from "../postgres/job-queue-pool.js";
import type { TransactionSource } from "../postgres/run-transaction.js";

/** Dependencies of a queue's workers. */
export interface QueuePorts {
  readonly database: Pick<TransactionSource, "namedStatements">;
  /** The connections of the job queues. This queue listens for jobs on one of them while the process runs. */
  readonly queuePool: JobQueuePool;
  /**
   * Called with one of these errors:
   * - the error of a failed job
   * - another error that the queue's library logs, such as a lost connection
   * - the error that stopped the queue. A stopped queue restarts after `restartAfterMs`.
   */
  readonly onError: (error: unknown) => void;
  /** Milliseconds until the queue restarts; default 5000. */
  readonly restartAfterMs?: number;
}

/**
 * The tasks of a queue, the times at which they run, and the maximum number of jobs that this process runs at the same
 * time.
 */
export interface QueueJobs {
  /** Returns the tasks. The signal aborts when the workers stop. */
  readonly tasksOf: (signal: AbortSignal) => TaskList;
  readonly cron: CronItem[];
  /** The maximum number of jobs of this queue that the process runs at the same time. */
  readonly concurrency: number;
  /** The task that is queued each time the queue starts. */
  readonly first: string;
}

const POLL_MS = 5_000;
const RESTART_AFTER_MS = 5_000;

/**
 * Runs jobs until they are stopped. Every process runs jobs. Each job runs in one process. If the process dies, another
 * process repeats the job within about 4 h. Returns a function that stops the workers and waits until the current jobs
 * reach a point where they can stop.
 */
export function runQueue(ports: QueuePorts, jobs: QueueJobs): () => Promise<void> {
  const ending = new AbortController();
  const done = keepWorking(ports, jobs, ending.signal);
  return async () => {
    ending.abort();
    await done;
  };
}

async function keepWorking(ports: QueuePorts, jobs: QueueJobs, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await work(ports, jobs, signal);
    } catch (error) {
      if (!signal.aborted) ports.onError(error);
    }
    await delay(ports.restartAfterMs ?? RESTART_AFTER_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Runs the queue until it is stopped or fails. The runner ends before the function returns, so that this queue has at
 * most one runner and one listening connection. The queue library is loaded here and not at the start of the service,
 * because requests do not need it.
 */
async function work(
  ports: QueuePorts,
  { tasksOf, cron, concurrency, first }: QueueJobs,
  signal: AbortSignal,
): Promise<void> {
  const { Logger: QueueLogger, parseCronItems, run } = await import("graphile-worker");
  const runner = await run({
    pgPool: ports.queuePool,
    taskList: tasksOf(signal),
    parsedCronItems: parseCronItems(cron),
    concurrency,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    noPreparedStatements: !ports.database.namedStatements,
    logger: new QueueLogger(() => (level: string, message: string, meta?: Readonly<Record<string, unknown>>) => {
      const cause = meta?.["error"] ?? meta?.["fatalError"];
      if (level === "error") ports.onError(new Error(message, { cause }));
    }),
  });
  const stop = () => void end(runner);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) stop();
    const begun = signal.aborted || runner.addJob(first, {}, { jobKey: first });
    await Promise.all([runner.promise, begun]);
  } finally {
    signal.removeEventListener("abort", stop);
    await end(runner);
  }
}

/** Stops a runner and resolves when it has no job. Ignores the error of a runner that has already stopped. */
async function end(runner: Runner): Promise<void> {
  await Promise.resolve()
    .then(() => runner.stop())
    .catch(() => undefined);
  await runner.promise.catch(() => undefined);
}

import { setTimeout as delay } from "node:timers/promises";
import type { AddJobFunction, Runner, TaskList } from "graphile-worker";
import type { Logger } from "pino";
import { EXTEND_SCHEDULE, type ExtensionPayload, extensionKey } from "../postgres/job-queue.js";
import type { JobQueuePool } from "../postgres/job-queue-pool.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { findDueTenants } from "../postgres/tables/schedule/due-programs.js";
import { horizonFrom } from "../scheduling/horizon.js";
import { assignPositions } from "./assign-positions.js";
import { extendSchedules } from "./extend-schedules.js";
import { purgeEvents, purgeIdempotencyKeys, purgeOptionTokens, purgeQuotas } from "./purges.js";
import { tendPartitions } from "./tend-partitions.js";

/** Dependencies of background jobs. */
export interface JobPorts {
  readonly database: TransactionSource;
  /** The job queue's own connections. One of them listens for jobs while the process runs. */
  readonly queuePool: JobQueuePool;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** The highest number of open slots of a tenant. */
  readonly maxOpenSlots: number;
  readonly logger: Logger;
  /** Called when a tenant reaches its open-slot limit. */
  readonly onFull?: () => void;
  /** Called with the error that stopped the queue. The queue restarts after `restartAfterMs`. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds until the queue restarts; default 5000. */
  readonly restartAfterMs?: number;
}

const EXTEND_SCHEDULES = "extend_schedules";
const PURGE = "purge";
const TEND_PARTITIONS = "tend_partitions";
const CRON = [
  { task: EXTEND_SCHEDULES, match: "7 * * * *", identifier: EXTEND_SCHEDULES },
  { task: PURGE, match: "*/10 * * * *", identifier: PURGE },
  { task: TEND_PARTITIONS, match: "37 * * * *", identifier: TEND_PARTITIONS },
];
const POLL_MS = 5_000;
const RESTART_AFTER_MS = 5_000;
/** Milliseconds until the next turn of a tenant whose schedules are locked by a change. */
const BUSY_MS = 1_000;

/**
 * Runs background jobs until it is stopped: it extends schedules to the horizon every hour and on request, purges
 * expired data, and creates partitions ahead. Every process runs jobs. One process does each job; if it dies, another
 * process repeats the job.
 *
 * A job extends one part of a tenant's schedules and then queues the tenant's next part. So the tenants take turns.
 * Returns a function that stops the jobs and waits until the current job reaches a point where it can stop.
 */
export function runJobs(ports: JobPorts): () => Promise<void> {
  const ending = new AbortController();
  const done = keepWorking(ports, ending.signal);
  return async () => {
    ending.abort();
    await done;
  };
}

async function keepWorking(ports: JobPorts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await work(ports, signal);
    } catch (error) {
      if (!signal.aborted) ports.onError(error);
    }
    await delay(ports.restartAfterMs ?? RESTART_AFTER_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Runs the queue until it is stopped or fails. Ends the runner before it returns, so that only one runner and one
 * listening connection exist. The library is loaded here, after the start of the service, which does not need it to
 * answer requests.
 */
async function work(ports: JobPorts, signal: AbortSignal): Promise<void> {
  const { Logger: QueueLogger, parseCronItems, run } = await import("graphile-worker");
  const runner = await run({
    pgPool: ports.queuePool,
    taskList: tasksOf(ports, signal),
    parsedCronItems: parseCronItems(CRON),
    concurrency: 1,
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
    const begun = signal.aborted || runner.addJob(EXTEND_SCHEDULES, {}, { jobKey: EXTEND_SCHEDULES });
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

function tasksOf({ database, now, logger, maxOpenSlots, onFull }: JobPorts, signal: AbortSignal): TaskList {
  const askFor = (addJob: AddJobFunction, tenantId: string, when: { readonly runAt?: Date } = {}) => {
    const payload: ExtensionPayload = { tenantId };
    return addJob(EXTEND_SCHEDULE, payload, { jobKey: extensionKey(tenantId), ...when });
  };
  return {
    [EXTEND_SCHEDULES]: async (_, { addJob }) => {
      for (const id of await findDueTenants(database, horizonFrom(now()).through)) await askFor(addJob, id);
    },
    [EXTEND_SCHEDULE]: async (payload, { addJob, job }) => {
      const { tenantId } = payload as ExtensionPayload;
      const { kind } = await extendSchedules(tenantId, { database, now, maxOpenSlots, logger, onFull });
      if (kind === "ADDED") await askFor(addJob, tenantId);
      if (kind === "BUSY") await askFor(addJob, tenantId, { runAt: laterThan(job.locked_at ?? job.run_at) });
    },
    [PURGE]: async () => {
      await purgeIdempotencyKeys(database, signal);
      await purgeOptionTokens(database, signal);
      await purgeQuotas(database, signal);
      await assignPositions(database, signal);
      await purgeEvents(database, signal);
    },
    [TEND_PARTITIONS]: async () => void (await tendPartitions({ database, now, logger }, signal)),
  };
}

/** Calculates with the database's clock, because the queue compares times with it. */
function laterThan(begun: Date): Date {
  return new Date(begun.getTime() + BUSY_MS);
}

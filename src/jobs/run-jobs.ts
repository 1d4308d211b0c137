import { setTimeout as delay } from "node:timers/promises";
import type { AddJobFunction, Runner, TaskList } from "graphile-worker";
import type { Logger } from "pino";
import { EXTEND_SCHEDULE, type ExtensionPayload, extensionKey } from "../postgres/job-queue.js";
import type { JobQueuePool } from "../postgres/job-queue-pool.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { findDueTenants } from "../postgres/tables/schedule/due-programs.js";
import { horizonFrom } from "../scheduling/horizon.js";
import { extendSchedules } from "./extend-schedules.js";
import { placeEvents } from "./place-events.js";
import { purgeEvents, purgeIdempotencyKeys, purgeOptionTokens, purgeQuotas } from "./purges.js";
import { tendPartitions } from "./tend-partitions.js";

/** What the jobs need. */
export interface JobPorts {
  readonly database: TransactionSource;
  /** Connections of the job queue's own: one listens for jobs as long as the process runs. */
  readonly queuePool: JobQueuePool;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How many open slots a tenant may have. */
  readonly maxOpenSlots: number;
  readonly logger: Logger;
  /** Told that a tenant may have no more slots. */
  readonly onFull?: () => void;
  /** Told of what stopped the queue, which starts again a little later. */
  readonly onError: (error: unknown) => void;
  /** How much later it starts again; five seconds unless given. */
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
/** When a tenant has its next turn whose schedules somebody was changing. */
const BUSY_MS = 1_000;

/**
 * Works on background jobs until it is stopped: schedules up to the horizon, every hour and when somebody asks, the
 * purges, and partitions ahead. Every process does; a job is done by one of them, and by another if that one dies. One part of the schedules of a tenant
 * is a job, behind which the tenant's next stands in line: so tenants have their turns, whatever there is to do. Returns the way to stop, which
 * waits for the job at hand to come to a good place.
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
 * Until it is stopped, or fails: then its runner ends first, so that there is one at a time, and one connection that listens.
 * The library is loaded here, behind the start of the service, which does not need it to answer.
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
    logger: new QueueLogger(() => (level: string, message: string) => {
      if (level === "error") ports.onError(new Error(message));
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

/** Resolves when the runner works on nothing any more. One that has stopped by itself refuses to be stopped, which is as good. */
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
      await placeEvents(database, signal);
      await purgeEvents(database, signal);
    },
    [TEND_PARTITIONS]: async () => void (await tendPartitions({ database, now, logger }, signal)),
  };
}

/** By the database's clock, as which turns come is, whatever this process' shows. */
function laterThan(begun: Date): Date {
  return new Date(begun.getTime() + BUSY_MS);
}

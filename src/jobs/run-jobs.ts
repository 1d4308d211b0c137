import type { AddJobFunction, TaskList } from "graphile-worker";
import type { Logger } from "pino";
import { ERASE_TENANTS, EXTEND_SCHEDULE, type ExtensionPayload, extensionKey } from "../postgres/job-queue.js";
import type { JobQueuePool } from "../postgres/job-queue-pool.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { findDueTenants } from "../postgres/tables/schedule/due-programs.js";
import { localDateAt } from "../scheduling/local-clock.js";
import { eraseTenants } from "./erase-tenants.js";
import { extendSchedules } from "./extend-schedules.js";
import { offerFreedSlots } from "./offer-freed-slots.js";
import { purgeAll } from "./purges.js";
import { runQueue } from "./run-queue.js";
import { summarizeWaits } from "./summarize-waits.js";
import { tendPartitions } from "./tend-partitions.js";
import { writeTimeEvents } from "./write-time-events.js";

/** Dependencies of background jobs. */
export interface JobPorts {
  readonly database: TransactionSource;
  /** The connections of the job queues. This queue listens for jobs on one of them while the process runs. */
  readonly queuePool: JobQueuePool;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** The maximum number of open slots of a tenant. An open slot is free and starts in the future. */
  readonly maxOpenSlots: number;
  /** Minutes from the start of an appointment to its no-show event, for a tenant that has not set its own number. */
  readonly noShowGraceMinutes: number;
  readonly logger: Logger;
  /** Called each time a schedule cannot be extended because its tenant is at its open-slot limit. */
  readonly onFull?: () => void;
  /** Called after a commit that added events to the feed of the tenant. */
  readonly onCommitted?: (tenantId: string) => void;
  /**
   * Called with the error of a failed job, with an error that the queue's library logs, and with the error that stopped
   * the queue. A stopped queue restarts after `restartAfterMs`.
   */
  readonly onError: (error: unknown) => void;
  /** Milliseconds until the queue restarts; default 5000. */
  readonly restartAfterMs?: number;
}

const EXTEND_SCHEDULES = "extend_schedules";
const PURGE = "purge";
const SUMMARIZE_WAITS = "summarize_waits";
const TEND_PARTITIONS = "tend_partitions";
const WRITE_TIME_EVENTS = "write_time_events";
const OFFER_FREED_SLOTS = "offer_freed_slots";
/**
 * Returns the cron item of a job that runs every minute. The job runs before other waiting jobs, such as extensions of
 * schedules, so that reminders are on time.
 */
const eachMinute = (task: string) => ({
  task,
  match: "* * * * *",
  identifier: task,
  options: { priority: -10, jobKey: task },
});
const CRON = [
  eachMinute(WRITE_TIME_EVENTS),
  eachMinute(OFFER_FREED_SLOTS),
  { task: ERASE_TENANTS, match: "* * * * *", identifier: ERASE_TENANTS, options: { jobKey: ERASE_TENANTS } },
  { task: EXTEND_SCHEDULES, match: "7 * * * *", identifier: EXTEND_SCHEDULES },
  { task: PURGE, match: "*/10 * * * *", identifier: PURGE },
  { task: SUMMARIZE_WAITS, match: "*/5 * * * *", identifier: SUMMARIZE_WAITS },
  { task: TEND_PARTITIONS, match: "37 * * * *", identifier: TEND_PARTITIONS },
];
/**
 * A run of the job that erases tenants stops after this many milliseconds, when its current batch of rows is deleted.
 * An unfinished erasure continues in a later run, after the other waiting jobs.
 */
const ERASURE_TURN_MS = 10_000;
/**
 * The job that erases tenants runs again if an erasure is unfinished. The job that extends a schedule runs again if
 * locks of other transactions prevented the extension. In both cases, the new run starts at least this many
 * milliseconds after the start of the current run.
 */
const BUSY_MS = 1_000;

/**
 * Runs background jobs until they are stopped:
 *
 * - every minute: writes the events that became due (reminders, no-shows, expired waitlist entries)
 * - every minute: offers freed slots to patients on the waitlists
 * - every minute and on request: erases tenants
 * - every 5 min: updates the stored summaries of patients' waits for the opportunity indicators
 * - every 10 min: purges expired data, assigns positions to events
 * - at the start, every hour and on request: extends schedules to the booking horizon
 * - every hour: creates and drops partitions
 *
 * Every process runs jobs. Each job runs in one process. If the process dies, another process repeats the job within
 * about 4 h. Later jobs of the same kind can run before that.
 *
 * A job that extends schedules adds a limited number of slots of one program, or withdraws all its slots that no longer
 * fit. If more may be left to do, it queues the next job of this kind for the tenant. The waiting jobs of other tenants
 * run first.
 *
 * Returns a function that stops the jobs and waits until the current job reaches a point where it can stop.
 */
export function runJobs(ports: JobPorts): () => Promise<void> {
  return runQueue(ports, {
    tasksOf: (signal) => tasksOf(ports, signal),
    cron: CRON,
    concurrency: 1,
    first: EXTEND_SCHEDULES,
  });
}

function tasksOf(ports: JobPorts, signal: AbortSignal): TaskList {
  const { database, now, logger, maxOpenSlots, onFull } = ports;
  const askFor = (addJob: AddJobFunction, tenantId: string, when: { readonly runAt?: Date } = {}) => {
    const payload: ExtensionPayload = { tenantId };
    return addJob(EXTEND_SCHEDULE, payload, { jobKey: extensionKey(tenantId), ...when });
  };
  return {
    [EXTEND_SCHEDULES]: async (_, { addJob }) => {
      for (const id of await findDueTenants(database, localDateAt(now()))) await askFor(addJob, id);
    },
    [EXTEND_SCHEDULE]: async (payload, { addJob, job }) => {
      const { tenantId } = payload as ExtensionPayload;
      const { kind } = await extendSchedules(tenantId, { database, now, maxOpenSlots, logger, onFull });
      if (kind === "ADDED" || kind === "COMPARED") await askFor(addJob, tenantId);
      if (kind === "BUSY") await askFor(addJob, tenantId, { runAt: laterThan(job.locked_at ?? job.run_at) });
    },
    [PURGE]: () => purgeAll(database, signal),
    [OFFER_FREED_SLOTS]: async () => void (await offerFreedSlots(ports, signal)),
    [WRITE_TIME_EVENTS]: async () => void (await writeTimeEvents(ports, signal)),
    [ERASE_TENANTS]: async (_, { addJob, job }) => {
      const turn = AbortSignal.any([signal, AbortSignal.timeout(ERASURE_TURN_MS)]);
      const isLeft = await eraseTenants({ database, now, logger }, turn);
      const runAt = laterThan(job.locked_at ?? job.run_at);
      if (isLeft) await addJob(ERASE_TENANTS, {}, { jobKey: ERASE_TENANTS, runAt });
    },
    [SUMMARIZE_WAITS]: () => summarizeWaits(database, signal),
    [TEND_PARTITIONS]: async () => void (await tendPartitions({ database, now, logger }, signal)),
  };
}

/** Returns the time `BUSY_MS` after `begun`. Both are times of the database's clock, which the queue uses. */
function laterThan(begun: Date): Date {
  return new Date(begun.getTime() + BUSY_MS);
}

import { setMaxListeners } from "node:events";
import type { AddJobFunction, TaskList } from "graphile-worker";
import { DELIVER_WEBHOOK, type DeliveryPayload, deliveryKey, removeJob, successorKey } from "../postgres/job-queue.js";
import { findWaitingWebhooks, type WebhookKey } from "../postgres/tables/webhooks/webhook-overview.js";
import { deliverWebhook } from "../webhooks/deliver-webhook.js";
import type { DeliveryPorts } from "../webhooks/delivery-ports.js";
import { type QueuePorts, runQueue } from "./run-queue.js";

const FIND_WEBHOOKS = "find_webhooks";
const CRON = [{ task: FIND_WEBHOOKS, match: "* * * * *", identifier: FIND_WEBHOOKS }];
/**
 * The maximum number of webhooks to which a process sends at the same time. It exceeds the maximum number of webhooks
 * of a tenant (`MAX_WEBHOOKS`), so that slow receivers of one tenant do not take all workers.
 */
const CONCURRENCY = 24;
/**
 * The maximum number of listeners of the abort signal before Node warns of a leak. Each event that is being sent has
 * one listener.
 */
const MOST_SENDING = 1_000;
/**
 * A job that finds a webhook leased by another run tries again after this many milliseconds. That run can be in this
 * process.
 */
const BUSY_MS = 1_000;
/** A successor job (see {@link runWebhookJobs}) runs this many milliseconds after the end of the lease. */
const AFTER_LEASE_MS = 500;

/**
 * Runs the jobs that send events to webhooks, until they are stopped. The jobs have workers of their own, so that slow
 * receivers do not delay other background jobs. Returns a function that stops the jobs, see {@link runQueue}.
 *
 * At the start and every minute, a job finds the webhooks that have events to send and no lease. It queues a job for
 * each of these webhooks. The queued job leases its webhook, so that only one run at a time sends to the webhook:
 * - If another run has the lease, in this or another process, the job sends nothing. It queues itself for 1 s later.
 * - Otherwise the job sends for about 10 s. If more may be left to send now, it then queues itself again, after the
 *   jobs of other webhooks. If the next attempt is due later, it queues itself for that time.
 *
 * Before it sends, the job queues a second job, its successor. The successor runs after the end of the lease, about
 * 25 s later, in these cases: the process is killed, the job fails, or eight attempts fail and the receiver accepts
 * nothing. In any other case, the job removes its successor.
 */
export function runWebhookJobs(queue: QueuePorts, deliveries: DeliveryPorts): () => Promise<void> {
  return runQueue(queue, {
    tasksOf: (signal) => {
      setMaxListeners(MOST_SENDING, signal);
      return tasksOf(queue, deliveries, signal);
    },
    cron: CRON,
    concurrency: CONCURRENCY,
    first: FIND_WEBHOOKS,
  });
}

function tasksOf(queue: QueuePorts, deliveries: DeliveryPorts, signal: AbortSignal): TaskList {
  const { database } = deliveries;
  return {
    [FIND_WEBHOOKS]: async (_, { addJob }) => {
      for (const key of await findWaitingWebhooks(database)) await queueDelivery(addJob, key, deliveryKey(key));
    },
    [DELIVER_WEBHOOK]: async (payload, { addJob, job }) => {
      const key = payload as DeliveryPayload;
      const { tenantId, webhookId } = key;
      const successor = successorKey(key);
      const onLeased = (until: Date) => queueDelivery(addJob, key, successor, later(until, AFTER_LEASE_MS));
      const result = await deliverWebhook(tenantId, webhookId, deliveries, signal, { onLeased });
      if (result.kind === "MORE") await queueDelivery(addJob, key, deliveryKey(key));
      if (result.kind === "LATER") await queueRetry(addJob, key, result.at);
      if (result.kind === "BUSY") {
        await queueDelivery(addJob, key, deliveryKey(key), later(job.locked_at ?? job.run_at, BUSY_MS));
      } else if (result.kind !== "RESTING") {
        await removeJob(queue.queuePool, successor);
      }
    },
  };
}

async function queueDelivery(
  addJob: AddJobFunction,
  { tenantId, webhookId }: WebhookKey,
  jobKey: string,
  runAt?: Date,
): Promise<void> {
  const payload: DeliveryPayload = { tenantId, webhookId };
  await addJob(DELIVER_WEBHOOK, payload, { jobKey, ...(runAt === undefined ? {} : { runAt }) });
}

/**
 * Queues a job for `runAt`. If a job of the webhook already waits and has not failed, keeps the time of that job. That
 * job was queued during this run, for a newer event or because it found the webhook leased.
 */
async function queueRetry(addJob: AddJobFunction, key: DeliveryPayload, runAt: Date): Promise<void> {
  await addJob(DELIVER_WEBHOOK, key, { jobKey: deliveryKey(key), runAt, jobKeyMode: "preserve_run_at" });
}

/** Returns the time `ms` milliseconds after `than`. Both are times of the database's clock, which the queue uses. */
function later(than: Date, ms: number): Date {
  return new Date(than.getTime() + ms);
}

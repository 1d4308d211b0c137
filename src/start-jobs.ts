import type { Logger } from "pino";
import { logFailedJobs } from "./jobs/log-failed-jobs.js";
import { runJobs } from "./jobs/run-jobs.js";
import { runWebhookJobs } from "./jobs/run-webhook-jobs.js";
import { openDeliveries, type Webhooks } from "./open-webhooks.js";
import type { Database } from "./postgres/database.js";
import { breakerOf, openJobQueuePool } from "./postgres/job-queue-pool.js";
import type { Config } from "./settings/config.js";
import type { Telemetry } from "./telemetry/open-telemetry.js";

/** The dependencies of the jobs of a process. */
export interface StartedJobsPorts {
  readonly database: Database;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly webhooks: Webhooks;
  /** How many milliseconds a receiver of webhooks has to answer; default 10,000. */
  readonly sendTimeoutMs?: number | undefined;
  /** Called after a job commits a transaction that added an event to the feed of the tenant. */
  readonly onCommitted: (tenantId: string) => void;
}

/**
 * Starts the background jobs of a process. Returns a function that stops the jobs. Open the listeners first, because
 * requests can be served without the jobs. Before the jobs stop, close the listeners, because requests queue jobs.
 */
export function startJobs(
  { webhooks, onCommitted, ...ports }: StartedJobsPorts,
  { databaseUrl: url, databaseConnections, slotLimits, visitMargins }: Config & { readonly databaseUrl: string },
  { pools, service }: Telemetry,
): () => Promise<void> {
  const { database, logger } = ports;
  const onError = logFailedJobs(logger);
  const queuePool = openJobQueuePool({ url, maxConnections: databaseConnections.jobs, onIdleError: onError });
  pools.watch("jobs", queuePool);
  database.whenUnreachable(breakerOf(queuePool));
  const onFull = () => service.reached("open_slots");
  const limits = { maxOpenSlots: slotLimits.perTenant, noShowGraceMinutes: visitMargins.noShowGraceMinutes };
  const stopJobs = runJobs({ ...ports, ...limits, queuePool, onError, onFull, onCommitted });
  const deliveries = openDeliveries(webhooks, ports, service, onCommitted);
  const stopDeliveries = runWebhookJobs({ database, queuePool, onError }, deliveries);
  return async () => {
    await Promise.all([stopJobs(), stopDeliveries()]);
    deliveries.sender.close();
    await queuePool.end();
  };
}

import { readJobQueue } from "../postgres/job-queue.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import { readOutbox } from "../postgres/tables/events/event-overview.js";
import { countHolds } from "../postgres/tables/holds/hold-overview.js";
import { findFurthestBehind } from "../postgres/tables/schedule/due-programs.js";
import { readWebhookState } from "../postgres/tables/webhooks/webhook-overview.js";
import { localDateAt } from "../scheduling/local-clock.js";
import type { Backlog } from "../telemetry/metrics/service-metrics.js";
import { timeOfUuid7 } from "../uuid.js";

/**
 * Returns the backlog of all tenants together. Reads it in five short transactions. The backlog has:
 * - the largest delay of a program's schedule, in days ({@link findFurthestBehind})
 * - the numbers of waiting jobs, events and deliveries, each with the age of the oldest
 * - the numbers of disabled webhooks and of holds
 */
export async function readBacklog(database: TransactionSource, now: () => number): Promise<Backlog> {
  const scheduleDays = await findFurthestBehind(database, localDateAt(now()));
  const jobs = await readJobQueue(database);
  const { count, oldestId } = await readOutbox(database);
  const { pending, oldestSeconds: pendingSeconds, disabled } = await readWebhookState(database);
  const holds = await countHolds(database, now());
  const oldestSeconds = oldestId === undefined ? 0 : Math.max(0, (Date.now() - timeOfUuid7(oldestId)) / 1000);
  return {
    scheduleDays,
    jobs,
    events: { count, oldestSeconds },
    deliveries: { count: pending, oldestSeconds: pendingSeconds },
    disabledWebhooks: disabled,
    holds,
  };
}

import type { Transaction } from "../call.js";
import { isOlderServing } from "../postgres/migration/older-serving.js";
import { runAsActiveTenant, type TransactionSource } from "../postgres/run-transaction.js";
import {
  buildSummaries,
  dropAllSummaries,
  findTenantsWithChanges,
  findTenantsWithoutSummaries,
  moveChanges,
} from "../postgres/tables/opportunity/summaries.js";
import { runForEach } from "./run-for-each.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000, idleTimeoutMs: 15_000 };
/** The migration that added the table `opportunity_summaries`. Older releases do not record changes for this table. */
const KNOWN_SINCE = "0044-opportunity-summaries";

/**
 * For all active tenants: builds the missing summaries of patients' waits in the table `opportunity_summaries`. Then
 * adds the changes recorded in `opportunity_changes` to the summaries. Without this job, the opportunity indicators are
 * correct, but take longer to compute.
 *
 * An older release does not record its changes in `opportunity_changes`. While an older release serves the database,
 * the job only marks the summaries of all tenants as not built. The job does not notice an older release that serves
 * only between two runs of the job.
 *
 * If the job fails for a tenant, it continues with the others ({@link runForEach}). An aborted signal stops the job
 * after the current transaction.
 */
export async function summarizeWaits(database: TransactionSource, signal?: AbortSignal): Promise<void> {
  if (await isOlderServing(database, KNOWN_SINCE)) return dropAllSummaries(database);
  const repeat = async (tenantId: string, work: (transaction: Transaction) => Promise<boolean>) => {
    for (;;) {
      if (signal?.aborted === true) return;
      const isMore = await runAsActiveTenant(database, tenantId, LIMITS, work);
      if (isMore !== true) return;
    }
  };
  const steps = [
    { find: findTenantsWithoutSummaries, work: buildSummaries },
    { find: findTenantsWithChanges, work: moveChanges },
  ];
  const run = async ({ find, work }: (typeof steps)[number]) =>
    runForEach(await find(database), (tenantId) => repeat(tenantId, work), signal);
  await runForEach(steps, run, signal);
}

import type { Transaction } from "../call.js";
import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/** The task that extends the schedules of one tenant. Its payload is an {@link ExtensionPayload}. */
export const EXTEND_SCHEDULE = "extend_schedule";

/** Payload of {@link EXTEND_SCHEDULE}. */
export interface ExtensionPayload {
  readonly tenantId: string;
}

/**
 * Returns the key of the job that extends the schedules of a tenant. There is one such job per tenant at a time, so
 * that all tenants get equal shares of the workers.
 */
export function extensionKey(tenantId: string): string {
  return `${EXTEND_SCHEDULE}:${tenantId}`;
}

/** Queues a job that extends the schedules of the tenant after the commit. Several requests result in one job. */
export function requestExtension(transaction: Transaction): void {
  const payload: ExtensionPayload = { tenantId: transaction.tenantId };
  transaction.send(
    sql.raw("SELECT graphile_worker.add_job(identifier => ?, payload => ?::json, job_key => ?)", [
      EXTEND_SCHEDULE,
      JSON.stringify(payload),
      extensionKey(transaction.tenantId),
    ]),
  );
}

/** Number of waiting jobs, and how long the oldest has waited. */
export interface JobQueueState {
  readonly count: number;
  readonly oldestSeconds: number;
}

const STATE = `SELECT count(*)::integer AS count, coalesce(extract(epoch FROM now() - min(run_at)), 0)::float8 AS "oldestSeconds"
  FROM graphile_worker.jobs WHERE run_at <= now() AND locked_at IS NULL AND attempts < max_attempts`;

/** Reads the jobs of all tenants that are due, not running and not out of attempts. Time is the database's clock. */
export async function readJobQueue(source: TransactionSource): Promise<JobQueueState> {
  const [state] = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<JobQueueState>(sql.raw(STATE)),
  );
  return state ?? { count: 0, oldestSeconds: 0 };
}

import type { Transaction } from "../call.js";
import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/** The task that adds a part to a schedule of one tenant; its payload is an {@link ExtensionPayload}. */
export const EXTEND_SCHEDULE = "extend_schedule";

/** Whose schedules are to be extended. */
export interface ExtensionPayload {
  readonly tenantId: string;
}

/** The key of the job that extends the schedules of a tenant: there is one at a time, so that tenants have equal turns. */
export function extensionKey(tenantId: string): string {
  return `${EXTEND_SCHEDULE}:${tenantId}`;
}

/** Has a job extend the schedules of the tenant as soon as the transaction has committed. Asked for twice, it is done once. */
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

/** How many jobs wait, and for how long the oldest of them has. */
export interface JobQueueState {
  readonly count: number;
  readonly oldestSeconds: number;
}

const STATE = `SELECT count(*)::integer AS count, coalesce(extract(epoch FROM now() - min(run_at)), 0)::float8 AS "oldestSeconds"
  FROM graphile_worker.jobs WHERE run_at <= now() AND locked_at IS NULL AND attempts < max_attempts`;

/** The jobs that could be done now and that nobody does; of all tenants, by the database's clock. */
export async function readJobQueue(source: TransactionSource): Promise<JobQueueState> {
  const [state] = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<JobQueueState>(sql.raw(STATE)),
  );
  return state ?? { count: 0, oldestSeconds: 0 };
}

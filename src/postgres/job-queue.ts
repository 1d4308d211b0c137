import type { Transaction } from "../call.js";
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

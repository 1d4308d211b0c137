import type { Transaction } from "../call.js";
import { sql } from "./sql.js";

/** The task that extends the schedule of one program to the horizon; its payload is an {@link ExtensionPayload}. */
export const EXTEND_SCHEDULE = "extend_schedule";

/** Which program's schedule is to be extended. */
export interface ExtensionPayload {
  readonly tenantId: string;
  readonly programId: string;
}

/** Has a job extend the schedule of a program as soon as the transaction has committed. Asked for twice, it is done once. */
export function requestExtension(transaction: Transaction, programId: string): void {
  const payload: ExtensionPayload = { tenantId: transaction.tenantId, programId };
  transaction.send(
    sql.raw("SELECT graphile_worker.add_job(identifier => ?, payload => ?::json, job_key => ?)", [
      EXTEND_SCHEDULE,
      JSON.stringify(payload),
      `${EXTEND_SCHEDULE}:${programId}`,
    ]),
  );
}

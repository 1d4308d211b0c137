import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

const lockStatement = prepared(["tenant_id"], (key) =>
  sql("time_event_progress").where(key).select({ through: "through" }).forNoKeyUpdate(),
);

const advanceStatement = prepared(["tenant_id", "through"], ({ tenant_id, through }) =>
  sql("time_event_progress").where({ tenant_id }).update({ through }),
);

/**
 * Locks the tenant's row in `time_event_progress` until the transaction ends. Returns the instant until which the
 * tenant's time events (such as reminders) are written; undefined if the tenant has no such row yet.
 */
export async function lockProgress(transaction: Transaction): Promise<Date | undefined> {
  const statement = lockStatement({ tenant_id: transaction.tenantId });
  const [row] = await transaction.rows<{ readonly through: Date }>(statement);
  return row?.through;
}

/** Stores the instant until which the time events of the tenant are written. Call {@link lockProgress} first. */
export function advanceProgress(transaction: Transaction, through: Date): void {
  transaction.send(advanceStatement({ tenant_id: transaction.tenantId, through }));
}

import { type PurgedBatch, purgeBatch, purgeStatement } from "../../purge-batch.js";
import type { TransactionSource } from "../../run-transaction.js";

/** How long a hold is kept after its expiry. */
const RETENTION = "24 hours";

const PURGE = purgeStatement({ table: "appointment_holds", key: ["tenant_id", "id"], time: "expires_at" });

/**
 * Deletes at most `limit` holds that expired more than 24 hours ago. Covers the holds of all tenants, and begins with
 * the oldest. If `since` is defined, skips holds that expired before this time, because earlier batches have deleted
 * them.
 */
export function purgeHoldBatch(source: TransactionSource, limit: number, since?: Date): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, RETENTION, limit, since);
}

import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { type PurgedBatch, purgeBatch, purgeStatement } from "../../purge-batch.js";
import type { TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

/** How long a used token is kept after its expiry. Row-level security lets the purge delete only expired tokens. */
const RETENTION = "24 hours";

const PURGE = purgeStatement({ table: "consumed_option_tokens", key: ["tenant_id", "jti"], time: "expires_at" });

const insertToken = prepared(["tenant_id", "jti", "expires_at"], (row) =>
  sql("consumed_option_tokens").insert(row).onConflict().ignore().returning("jti"),
);

/** Marks an option token as used. Returns false if it was used before. */
export async function consumeToken(transaction: Transaction, jti: string, expiresAt: Date): Promise<boolean> {
  const rows = await transaction.rows(insertToken({ tenant_id: transaction.tenantId, jti, expires_at: expiresAt }));
  return rows.length === 1;
}

/**
 * Deletes at most `limit` used option tokens that expired more than 24 hours ago, the oldest first. Covers all tenants.
 * Skips tokens that expired before `since`, which is `until` of the previous batch.
 */
export function purgeTokenBatch(source: TransactionSource, limit: number, since?: Date): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, RETENTION, limit, since);
}

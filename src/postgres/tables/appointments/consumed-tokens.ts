import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { purgeBatch } from "../../purge-batch.js";
import type { TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

/** For how long a used token is remembered behind its end. The database refuses to forget one that has not ended. */
const RETENTION = "24 hours";

const PURGE = `DELETE FROM consumed_option_tokens WHERE (tenant_id, jti) IN (
  SELECT tenant_id, jti FROM consumed_option_tokens
  WHERE expires_at < now() - ?::interval ORDER BY expires_at LIMIT ?) RETURNING tenant_id`;

const insertToken = prepared(["tenant_id", "jti", "expires_at"], (row) =>
  sql("consumed_option_tokens").insert(row).onConflict().ignore().returning("jti"),
);

/** Uses an option token up; false where it was used before. */
export async function consumeToken(transaction: Transaction, jti: string, expiresAt: Date): Promise<boolean> {
  const rows = await transaction.rows(insertToken({ tenant_id: transaction.tenantId, jti, expires_at: expiresAt }));
  return rows.length === 1;
}

/** Forgets at most `limit` used option tokens of any tenant that ended before their retention, and gives their number. */
export function purgeTokenBatch(source: TransactionSource, limit: number): Promise<number> {
  return purgeBatch(source, PURGE, RETENTION, limit);
}

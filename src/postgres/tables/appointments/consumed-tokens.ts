import type { Pool } from "pg";
import { purgeRows } from "../../purge-batch.js";

const PURGE = `DELETE FROM consumed_option_tokens WHERE (tenant_id, jti) IN (
  SELECT tenant_id, jti FROM consumed_option_tokens
  WHERE expires_at < now() - interval '1 day' ORDER BY expires_at LIMIT $1)`;

/** Forgets at most `limit` used option tokens of any tenant that expired more than a day ago, and gives their number. */
export function purgeTokenBatch(pool: Pool, limit: number): Promise<number> {
  return purgeRows(pool, PURGE, limit);
}

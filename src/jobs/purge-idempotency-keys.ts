import type { Database } from "../postgres/database.js";
import { purgeBatch } from "../postgres/idempotency-keys.js";

const BATCH = 1_000;

/**
 * Deletes the results of idempotency keys that are older than 72 h, in batches, each its own transaction, so that no
 * lock is held for long. Gives the number of keys deleted. Of processes that purge at once, one finds the work done.
 */
export async function purgeIdempotencyKeys({ pool }: Pick<Database, "pool">): Promise<number> {
  let deleted = 0;
  for (;;) {
    const batch = await purgeBatch(pool, BATCH);
    deleted += batch;
    if (batch < BATCH) return deleted;
  }
}

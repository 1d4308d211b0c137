import { purgeTokenBatch } from "../postgres/consumed-tokens.js";
import type { Database } from "../postgres/database.js";

const BATCH = 1_000;

/** Forgets used option tokens that expired more than a day ago, in batches, and gives their number. */
export async function purgeOptionTokens({ pool }: Pick<Database, "pool">, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (;;) {
    const batch = await purgeTokenBatch(pool, BATCH);
    deleted += batch;
    if (batch < BATCH || signal.aborted) return deleted;
  }
}

import { execute } from "../support/database.js";
import { eventually } from "../support/eventually.js";

const DETECT_EARLY = `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''50ms''', current_database()); END $$`;
const OTHERS = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
const DEADLOCKS = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";

/**
 * Has deadlocks in a database found before anybody gives up waiting, so that they count as what they are. Holds for the
 * connections that are opened afterwards.
 */
export async function detectDeadlocksEarly(adminUrl: string): Promise<void> {
  await execute(adminUrl, DETECT_EARLY);
}

/**
 * How many deadlocks there were in a database that everybody is leaving: PostgreSQL counts some time after the fact, and
 * when a connection ends at the latest.
 */
export async function countDeadlocks(adminUrl: string): Promise<number> {
  const isDeserted = async () => (await execute(adminUrl, OTHERS)).length === 0;
  await eventually(isDeserted);
  const [row] = await execute(adminUrl, DEADLOCKS);
  return Number(row?.["deadlocks"]);
}

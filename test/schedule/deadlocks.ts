import { execute } from "../support/database.js";
import { eventually } from "../support/eventually.js";

const DETECT_EARLY = `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''50ms''', current_database()); END $$`;
const OTHERS = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
const DEADLOCKS = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";

/**
 * Makes PostgreSQL detect deadlocks in a database before a lock timeout ends the wait, so that they are counted as
 * deadlocks. Applies to connections opened afterwards.
 */
export async function detectDeadlocksEarly(adminUrl: string): Promise<void> {
  await execute(adminUrl, DETECT_EARLY);
}

/**
 * Returns how many deadlocks a database has had. Waits until all other connections have ended, because PostgreSQL may
 * publish a connection's statistics only then.
 */
export async function countDeadlocks(adminUrl: string): Promise<number> {
  const isDeserted = async () => (await execute(adminUrl, OTHERS)).length === 0;
  await eventually(isDeserted);
  const [row] = await execute(adminUrl, DEADLOCKS);
  return Number(row?.["deadlocks"]);
}

import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type Database, openDatabase } from "./postgres/database.js";
import { migrate } from "./postgres/migrate.js";
import { classifyFailure } from "./postgres/sql-errors.js";

const MAX_CONNECTIONS = 10;
const ACQUIRE_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 15_000;
const RETRY_INTERVAL_MS = 1_000;
const GIVE_UP_AFTER_MS = 60_000;

/**
 * Migrates the database at a postgres:// URL and opens the pool. Waits up to a minute for one that is not there yet, as
 * after a restart of everything. Rejects where the role could pass row-level security by, because then a missing predicate would show foreign tenants.
 */
export async function openReadyDatabase(url: string, logger: Logger): Promise<Database> {
  const onProgress = (text: string) => logger.info(text);
  await patiently(() => migrate({ url, onProgress }), logger);
  const database = openDatabase({
    url,
    maxConnections: MAX_CONNECTIONS,
    acquireTimeoutMs: ACQUIRE_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onIdleError: () => logger.warn("a database connection broke while it was idle"),
  });
  try {
    await patiently(() => requireBoundRole(database), logger);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function patiently(work: () => Promise<void>, logger: Logger): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = ["UNAVAILABLE", "LOST"].includes(classifyFailure(error));
      if (!isAway || performance.now() > giveUpAt) throw error;
      logger.warn("the database is not there yet, trying again");
      await delay(RETRY_INTERVAL_MS);
    }
  }
}

async function requireBoundRole(database: Database): Promise<void> {
  if (await database.isRoleBound()) return;
  throw new Error(
    "The role in DATABASE_URL is a superuser or has BYPASSRLS, so row-level security would not bind it. " +
      "Use a role without either that owns the database.",
  );
}

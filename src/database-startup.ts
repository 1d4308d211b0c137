import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type Database, openDatabase } from "./postgres/database.js";
import { migrate } from "./postgres/migrate.js";
import { classifyFailure, isAway } from "./postgres/sql-errors.js";

const MAX_CONNECTIONS = 10;
const ACQUIRE_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 15_000;
const RETRY_INTERVAL_MS = 1_000;
const GIVE_UP_AFTER_MS = 60_000;
const OWNER_WARNING =
  "the role in DATABASE_URL can change tables and erase the audit trail; MIGRATION_DATABASE_URL parts the owner from the service";

/** Where the database is. */
export interface DatabaseUrls {
  /** postgres:// URL of the service's role. */
  readonly databaseUrl: string;
  /** postgres:// URL of the role that owns the tables; undefined where the service's own migrates, or nobody here. */
  readonly migrationDatabaseUrl: string | undefined;
}

/**
 * Migrates the database and opens the pool. Waits up to a minute for one that is not there yet, as after a restart of
 * everything. Rejects where the service's role could pass row-level security by, because then a missing predicate would show
 * foreign tenants; says so where it could change the tables.
 */
export async function openReadyDatabase(urls: DatabaseUrls, logger: Logger): Promise<Database> {
  const { databaseUrl: url, migrationDatabaseUrl = url } = urls;
  const onProgress = (text: string) => logger.info(text);
  await patiently(() => migrate({ url: migrationDatabaseUrl, serviceUrl: url, onProgress }), logger);
  const database = openDatabase({
    url,
    maxConnections: MAX_CONNECTIONS,
    acquireTimeoutMs: ACQUIRE_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onIdleError: () => logger.warn("a database connection broke while it was idle"),
  });
  try {
    await patiently(() => judgeRole(database, logger), logger);
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
      if (!isAway(classifyFailure(error)) || performance.now() > giveUpAt) throw error;
      logger.warn("the database is not there yet, trying again");
      await delay(RETRY_INTERVAL_MS);
    }
  }
}

async function judgeRole(database: Database, logger: Logger): Promise<void> {
  const excess = await database.findExcessOfRole();
  if (excess === "BYPASSES_ROW_SECURITY") {
    throw new Error(
      "The role in DATABASE_URL is a superuser or has BYPASSRLS, so row-level security would not bind it. " +
        "Use a role without either; MIGRATION_DATABASE_URL is where the owner of the tables belongs.",
    );
  }
  if (excess === "OWNS_TABLES") logger.warn(OWNER_WARNING);
}

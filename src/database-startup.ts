import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "./config.js";
import { type Database, openDatabase } from "./postgres/database.js";
import { startEmbeddedPostgres } from "./postgres/embedded.js";
import { migrate } from "./postgres/migrate.js";
import { classifyFailure } from "./postgres/sql-errors.js";

/** A database that is migrated and safe to serve from. */
export interface ReadyDatabase {
  readonly database: Database;
  /** Where it is, for what needs connections of its own. */
  readonly url: string;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 10;
const ACQUIRE_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 15_000;
const RETRY_INTERVAL_MS = 1_000;
const GIVE_UP_AFTER_MS = 60_000;

/**
 * Finds the database (the configured one, or the embedded server, started where it does not run), migrates it, and opens
 * the pool. Waits up to a minute for a configured database that is not there yet, as after a restart of everything.
 * Rejects where the role could pass row-level security by, because then a missing predicate would show foreign tenants.
 */
export async function openReadyDatabase(
  { databaseUrl, dataDir }: Pick<Config, "databaseUrl" | "dataDir">,
  logger: Logger,
): Promise<ReadyDatabase> {
  const onProgress = (text: string) => logger.info(text);
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir, onProgress }) : undefined;
  const url = databaseUrl ?? embedded?.url ?? "";
  try {
    await patiently(() => migrate({ url, onProgress }), logger);
    const database = openDatabase({
      url,
      maxConnections: MAX_CONNECTIONS,
      acquireTimeoutMs: ACQUIRE_TIMEOUT_MS,
      queryTimeoutMs: QUERY_TIMEOUT_MS,
      onIdleError: () => logger.warn("a database connection broke while it was idle"),
    });
    const close = async () => {
      await database.close();
      await embedded?.stop();
    };
    await patiently(() => requireBoundRole(database, close), logger);
    return { database, url, close };
  } catch (error) {
    await embedded?.stop();
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

async function requireBoundRole(database: Database, close: () => Promise<void>): Promise<void> {
  if (await database.isRoleBound()) return;
  await close();
  throw new Error(
    "The role in DATABASE_URL is a superuser or has BYPASSRLS, so row-level security would not bind it. " +
      "Use a role without either that owns the database.",
  );
}

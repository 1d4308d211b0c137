import type { Logger } from "pino";
import type { DatabaseUrls } from "../database-startup.js";
import { startEmbeddedPostgres } from "../embedded-postgres/start-embedded-postgres.js";
import type { Config } from "../settings/config.js";
import { fail } from "./fail.js";

/**
 * Calls `start` with the URLs of the configured database and returns the result. If no database is configured, first
 * starts the embedded PostgreSQL server of the data folder. In this case, `close` of the result also stops the server.
 * If the server or `start` fails, logs the error and ends the process.
 */
export async function onDatabase<T extends { close(drainMs?: number): Promise<void> }>(
  { databaseUrl, migrationDatabaseUrl, dataDir }: Config,
  logger: Logger,
  start: (urls: DatabaseUrls) => Promise<T>,
): Promise<T> {
  const failStart = (error: unknown) => fail(error, logger);
  if (databaseUrl !== undefined) return start({ databaseUrl, migrationDatabaseUrl }).catch(failStart);
  const onProgress = (text: string) => logger.info(text);
  const embedded = await startEmbeddedPostgres({ dataDir, onProgress }).catch(failStart);
  const urls = { databaseUrl: embedded.url, migrationDatabaseUrl: embedded.ownerUrl };
  const started = await start(urls).catch(async (error: unknown) => {
    await embedded.stop();
    return failStart(error);
  });
  const close = async (drainMs?: number) => {
    await started.close(drainMs);
    await embedded.stop();
  };
  return { ...started, close };
}

import { type Database, openDatabase } from "../../src/postgres/database.js";

/**
 * Opens a database as the service does, for tests that work on it without a service. The time limits suit a busy
 * machine.
 */
export function openServiceDatabase(url: string, maxConnections = 4): Database {
  return openDatabase({
    url,
    maxConnections,
    acquireTimeoutMs: 10_000,
    queryTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
}

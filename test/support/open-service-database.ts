import { type Database, openDatabase } from "../../src/postgres/database.js";

/** Opens a database as the service does, for what works on it without one, with patience for a machine that is busy. */
export function openServiceDatabase(url: string, maxConnections = 4): Database {
  return openDatabase({
    url,
    maxConnections,
    acquireTimeoutMs: 10_000,
    queryTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
}

import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { readyCall } from "./call.js";
import type { ChainPorts } from "./interceptors/chain.js";
import { type Database, type DatabaseOptions, openDatabase } from "./postgres/database.js";
import { migrate } from "./postgres/migration/migrate.js";
import { classifyFailure, isAway } from "./postgres/sql-errors.js";
import { insertAccessRecords } from "./postgres/tables/patients/patient-evidence.js";
import { UnitOfWork } from "./postgres/unit-of-work.js";

const ACQUIRE_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 15_000;
const TRANSACTION_LIMITS = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 1_000,
  workLockTimeoutMs: 5_000,
  idleTimeoutMs: 15_000,
};
const RETRY_INTERVAL_MS = 1_000;
const GIVE_UP_AFTER_MS = 60_000;
const OWNER_WARNING =
  "the role in DATABASE_URL can change tables and erase the audit trail; MIGRATION_DATABASE_URL parts the owner from the service";
const POOLER_WARNING =
  "prepared statements were lost, as by a pooler in transaction mode: none is named any more; ?prepared_statements=false in " +
  "DATABASE_URL spares this finding, and what waits for notifications is polled for";

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
export async function openReadyDatabase(
  urls: DatabaseUrls,
  maxConnections: number,
  logger: Logger,
  onAcquired?: DatabaseOptions["onAcquired"],
): Promise<Database> {
  const { databaseUrl: url, migrationDatabaseUrl = url } = urls;
  const onProgress = (text: string) => logger.info(text);
  const database = openDatabase({
    url,
    maxConnections,
    acquireTimeoutMs: ACQUIRE_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onStatementsUnnamed: () => logger.warn(POOLER_WARNING),
    onIdleError: () => logger.warn("a database connection broke while it was idle"),
    onAcquired,
  });
  try {
    await patiently(() => requireBoundRole(database, url !== migrationDatabaseUrl), logger);
    await patiently(() => migrate({ url: migrationDatabaseUrl, serviceUrl: url, onProgress }), logger);
    if ((await database.findExcessOfRole()) === "OWNS_TABLES") logger.warn(OWNER_WARNING);
    return database;
  } catch (error) {
    await database.close();
    throw explainStart(error, urls);
  }
}

/** What calls are done in, on a database. `onCommitted` is told of a tenant of which something has changed. */
export function createCallStore(
  database: Database,
  onCommitted: (tenantId: string) => void,
): Pick<ChainPorts, "store" | "recordAccess"> {
  return {
    store: new UnitOfWork(database, { ...TRANSACTION_LIMITS, backOff, onCommitted }),
    recordAccess: (call, patientIds) => insertAccessRecords(readyCall(call), patientIds),
  };
}

/**
 * Before anything is made in the name of a role that must not have it: rejects for one that row-level security does not bind.
 * Where somebody else migrates, the role may not be there yet.
 */
async function requireBoundRole(database: Database, isMadeByMigration: boolean): Promise<void> {
  const excess = await database.findExcessOfRole().catch((error: unknown) => {
    if (isMadeByMigration && classifyFailure(error) === "REFUSED_ROLE") return undefined;
    throw error;
  });
  if (excess !== "BYPASSES_ROW_SECURITY") return;
  throw new Error(
    "The role in DATABASE_URL is a superuser or has BYPASSRLS, so row-level security would not bind it. " +
      "Use a role without either; MIGRATION_DATABASE_URL is where the owner of the tables belongs.",
  );
}

/** In one line what is to be done where the server has no such database or role; anything else as it is. */
function explainStart(error: unknown, { databaseUrl, migrationDatabaseUrl = databaseUrl }: DatabaseUrls): unknown {
  const failure = classifyFailure(error);
  if (!(error instanceof Error)) return error;
  if (failure === "NO_DATABASE") {
    const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
    const owner = decodeURIComponent(new URL(migrationDatabaseUrl).username);
    return new Error(
      `The PostgreSQL server has no database ${name}, which DATABASE_URL names. Make it: CREATE DATABASE "${name}" OWNER "${owner}"`,
      { cause: error },
    );
  }
  if (failure !== "REFUSED_ROLE") return error;
  return new Error(
    `The PostgreSQL server refuses a role of DATABASE_URL or MIGRATION_DATABASE_URL (${error.message}). Make it, or put its ` +
      "password right: CREATE ROLE … LOGIN PASSWORD '…'",
    { cause: error },
  );
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

/** Full jitter: anything up to 20 ms before the first retry, doubling with each. */
function backOff(attempt: number): Promise<void> {
  return delay(Math.random() * 10 * 2 ** attempt);
}

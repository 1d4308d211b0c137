import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { readyCall } from "./call.js";
import type { ChainPorts } from "./interceptors/chain.js";
import { type Database, type DatabaseOptions, openDatabase } from "./postgres/database.js";
import { isUpToDate } from "./postgres/migration/is-up-to-date.js";
import { migrate } from "./postgres/migration/migrate.js";
import type { ReplicaOutcome } from "./postgres/replica/replica-pause.js";
import { createReplicaReads, type ReplicaReads } from "./postgres/replica/replica-reads.js";
import { classifyFailure, isAway } from "./postgres/sql-errors.js";
import { UnitOfWork } from "./postgres/unit-of-work.js";
import { recordPatientAccess } from "./services/desk/case-access.js";
import type { Config } from "./settings/config.js";

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
  "the role in DATABASE_URL can change tables and erase the audit trail; set MIGRATION_DATABASE_URL to the owner of the tables " +
  "and DATABASE_URL to another role";
const POOLER_WARNING =
  "a named prepared statement was lost, probably by a connection pooler in transaction mode; from now on " +
  "statements have no names, and changes are polled; add ?prepared_statements=false to DATABASE_URL to avoid this at the next start";

const UNREACHABLE_WARNING =
  "database unreachable (all connections and TCP probe); pending queries failed; answering 503 until it responds";

/**
 * The numbers of database connections for calls and for jobs, and the seconds that a call may wait for a connection.
 */
export type CallConnections = Pick<Config, "databaseConnections" | "waitSeconds">;

/** The URLs of the database, and the options of its migration. */
export interface DatabaseUrls {
  /** The postgres:// URL of the service's role. */
  readonly databaseUrl: string;
  /** The postgres:// URL of the role that owns the tables. If undefined, the role of the service migrates. */
  readonly migrationDatabaseUrl: string | undefined;
  /**
   * How many months the audit trail and the access records are kept; undefined means for ever. The migration stores
   * this number in the database.
   */
  readonly auditRetentionMonths?: number | undefined;
  /** Whether to migrate even while an older, incompatible release is serving. */
  readonly despiteOlder?: boolean | undefined;
}

/**
 * Opens the pool, checks the role of the service, and migrates the database if it is not up to date. If the database is
 * not available, for example because all machines restart, the check and the migration are retried every second. Each
 * of the two is retried for up to 60 s.
 *
 * Rejects if row-level security does not apply to the service's role: a query without a condition on the tenant would
 * then return data of other tenants. Logs a warning if the role can change the tables.
 */
export async function openReadyDatabase(
  urls: DatabaseUrls,
  connections: CallConnections,
  logger: Logger,
  onAcquired?: DatabaseOptions["onAcquired"],
): Promise<Database> {
  const { databaseUrl: url, migrationDatabaseUrl = url, auditRetentionMonths, despiteOlder } = urls;
  const onProgress = (text: string) => logger.info(text);
  const onWarning = (text: string) => logger.warn(text);
  const database = openDatabase({ ...poolOptions(url, connections, logger), onAcquired });
  try {
    await patiently(() => requireBoundRole(database, url !== migrationDatabaseUrl), logger);
    await patiently(async () => {
      if (url === migrationDatabaseUrl && (await isUpToDate(database.pool, auditRetentionMonths))) return;
      const options = { auditRetentionMonths, despiteOlder, onProgress, onWarning };
      await migrate({ url: migrationDatabaseUrl, serviceUrl: url, ...options });
    }, logger);
    if ((await database.findExcessOfRole()) === "OWNS_TABLES") logger.warn(OWNER_WARNING);
    return database;
  } catch (error) {
    await database.close();
    throw explainStart(error, urls);
  }
}

/** A streaming replica for reads. */
export interface Replica {
  readonly reads: ReplicaReads;
  readonly pool: Database["pool"];
  close(): Promise<void>;
}

/**
 * Opens the pool of the streaming replica. Returns undefined if no replica is configured. If the replica is
 * unavailable, the primary serves the reads. Rejects if row-level security does not apply to the replica's role. Also
 * rejects if the replica responds but the role cannot be checked, for example because its password is wrong.
 */
export async function openReplica(
  { replicaUrl, ...connections }: CallConnections & Pick<Config, "replicaUrl">,
  primary: Database,
  logger: Logger,
  onOutcome: (outcome: ReplicaOutcome) => void,
): Promise<Replica | undefined> {
  if (replicaUrl === undefined) return undefined;
  const replica = openDatabase(poolOptions(replicaUrl, connections, logger));
  try {
    await requireBoundRole(replica, false, "DATABASE_REPLICA_URL");
  } catch (error) {
    if (!isAway(classifyFailure(error))) {
      await replica.close();
      throw explainRefusal(error, "DATABASE_REPLICA_URL");
    }
    logger.warn("the replica is unavailable; the primary serves its reads until it responds");
  }
  const reads = createReplicaReads({ primary, replica, onOutcome });
  return { reads, pool: replica.pool, close: () => replica.close() };
}

function poolOptions(
  url: string,
  { databaseConnections, waitSeconds }: CallConnections,
  logger: Logger,
): DatabaseOptions {
  return {
    url,
    maxConnections: databaseConnections.calls,
    acquireTimeoutMs: waitSeconds * 1_000,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onStatementsUnnamed: () => logger.warn(POOLER_WARNING),
    onUnreachable: (isUnreachable) => logger.warn(isUnreachable ? UNREACHABLE_WARNING : "the database responds again"),
    onIdleError: () => logger.warn("an idle database connection broke; it was removed from the pool"),
  };
}

/**
 * Returns the store that runs the transactions of calls, and the function that records accesses to data of patients.
 * `onCommitted` is called with the tenant after each committed call that has effects. It is not called for reads, even
 * if they write access records. `replica` serves the reads that may run on a replica.
 */
export function createCallStore(
  database: Database,
  onCommitted: (tenantId: string) => void,
  replica: ReplicaReads | undefined,
): Pick<ChainPorts, "store" | "recordAccess"> {
  return {
    store: new UnitOfWork(database, { ...TRANSACTION_LIMITS, backOff, onCommitted, replica }),
    recordAccess: (call, { patientIds, appointmentIds }) =>
      recordPatientAccess(patientIds, appointmentIds, readyCall(call)),
  };
}

/**
 * Rejects if row-level security does not apply to the role. Call this before the migration, so that nothing is created
 * with a rejected role. If `isMadeByMigration` is true, the function does not reject when the server refuses the role,
 * because the migration may not have created the role yet.
 */
async function requireBoundRole(
  database: Database,
  isMadeByMigration: boolean,
  setting = "DATABASE_URL",
): Promise<void> {
  const excess = await database.findExcessOfRole().catch((error: unknown) => {
    if (isMadeByMigration && classifyFailure(error) === "REFUSED_ROLE") return undefined;
    throw error;
  });
  if (excess !== "BYPASSES_ROW_SECURITY") return;
  const isAlone = setting === "DATABASE_URL" && !isMadeByMigration;
  throw new Error(
    `The role in ${setting} is a superuser or has BYPASSRLS, so row-level security would not bind it. Use a role without either` +
      (isAlone ? ", and set MIGRATION_DATABASE_URL to the owner of the tables." : "."),
  );
}

/**
 * Returns an error with the remedy if the database does not exist or the server rejects the role. Returns other errors
 * unchanged.
 */
function explainStart(error: unknown, { databaseUrl, migrationDatabaseUrl = databaseUrl }: DatabaseUrls): unknown {
  if (classifyFailure(error) !== "NO_DATABASE") {
    const isAlone = migrationDatabaseUrl === databaseUrl;
    return explainRefusal(error, isAlone ? "DATABASE_URL" : "DATABASE_URL or MIGRATION_DATABASE_URL");
  }
  const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  const owner = decodeURIComponent(new URL(migrationDatabaseUrl).username);
  return new Error(
    `The PostgreSQL server has no database ${name}, to which DATABASE_URL refers. Create it: CREATE DATABASE "${name}" OWNER "${owner}"`,
    { cause: error },
  );
}

function explainRefusal(error: unknown, settings: string): unknown {
  if (!(error instanceof Error) || classifyFailure(error) !== "REFUSED_ROLE") return error;
  const remedy = error.message.includes("pg_hba.conf")
    ? "Allow this role, database, address and encryption in pg_hba.conf and reload the server; also check sslmode"
    : "Create it, allow its login, or correct its password: CREATE ROLE or ALTER ROLE … LOGIN PASSWORD '…'";
  return new Error(`The PostgreSQL server rejects the role of ${settings} (${error.message}). ${remedy}`, {
    cause: error,
  });
}

async function patiently(work: () => Promise<void>, logger: Logger): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(classifyFailure(error)) || performance.now() > giveUpAt) throw error;
      logger.warn("the database is unavailable; retrying every second, for at most 60 s");
      await delay(RETRY_INTERVAL_MS);
    }
  }
}

/** Waits a random time (full jitter): at most 20 ms before the first retry. The maximum doubles with each retry. */
function backOff(attempt: number): Promise<void> {
  return delay(Math.random() * 10 * 2 ** attempt);
}

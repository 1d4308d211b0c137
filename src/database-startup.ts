import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { readyCall } from "./call.js";
import type { ChainPorts } from "./interceptors/chain.js";
import { type Database, type DatabaseOptions, openDatabase } from "./postgres/database.js";
import { isUpToDate } from "./postgres/migration/is-up-to-date.js";
import { migrate } from "./postgres/migration/migrate.js";
import { createReplicaReads, type ReplicaOutcome, type ReplicaReads } from "./postgres/replica/replica-reads.js";
import { classifyFailure, isAway } from "./postgres/sql-errors.js";
import { insertAccessRecords } from "./postgres/tables/patients/patient-evidence.js";
import { UnitOfWork } from "./postgres/unit-of-work.js";
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
  "the role in DATABASE_URL can change tables and erase the audit trail; MIGRATION_DATABASE_URL parts the owner from the service";
const POOLER_WARNING =
  "prepared statements were lost, as by a pooler in transaction mode: none is named any more; ?prepared_statements=false in " +
  "DATABASE_URL spares this finding, and what waits for notifications is polled for";

const SILENT_WARNING =
  "nothing is heard of the database, over no connection and by nobody who knocks: what waited for it has failed, and calls are 503";

/** How many connections calls have, and how long a call waits for one. */
export type CallConnections = Pick<Config, "databaseConnections" | "waitSeconds">;

/** Where the database is. */
export interface DatabaseUrls {
  /** postgres:// URL of the service's role. */
  readonly databaseUrl: string;
  /** postgres:// URL of the role that owns the tables; undefined where the service's own migrates, or nobody here. */
  readonly migrationDatabaseUrl: string | undefined;
  /** For how many months the audit trail is kept, where this migrates; undefined: for good. */
  readonly auditRetentionMonths?: number | undefined;
}

/**
 * Opens the pool of a database that is migrated, or migrates it. Waits up to a minute for one that is not there yet, as after a restart of
 * everything. Rejects where the service's role could pass row-level security by, because then a missing predicate would show
 * foreign tenants; says so where it could change the tables.
 */
export async function openReadyDatabase(
  urls: DatabaseUrls,
  connections: CallConnections,
  logger: Logger,
  onAcquired?: DatabaseOptions["onAcquired"],
): Promise<Database> {
  const { databaseUrl: url, migrationDatabaseUrl = url, auditRetentionMonths } = urls;
  const onProgress = (text: string) => logger.info(text);
  const database = openDatabase({ ...poolTerms(url, connections, logger), onAcquired });
  try {
    await patiently(() => requireBoundRole(database, url !== migrationDatabaseUrl), logger);
    await patiently(async () => {
      if (url === migrationDatabaseUrl && (await isUpToDate(database.pool, auditRetentionMonths))) return;
      await migrate({ url: migrationDatabaseUrl, serviceUrl: url, auditRetentionMonths, onProgress });
    }, logger);
    if ((await database.findExcessOfRole()) === "OWNS_TABLES") logger.warn(OWNER_WARNING);
    return database;
  } catch (error) {
    await database.close();
    throw explainStart(error, urls);
  }
}

/** A streaming replica that reads are done on. */
export interface Replica {
  readonly reads: ReplicaReads;
  readonly pool: Database["pool"];
  close(): Promise<void>;
}

/**
 * Opens the pool of the streaming replica, where there is one; it may be away, in which case the primary does its work. Rejects for a
 * role that row-level security does not bind.
 */
export async function openReplica(
  { replicaUrl, ...connections }: CallConnections & Pick<Config, "replicaUrl">,
  primary: Database,
  logger: Logger,
  onOutcome: (outcome: ReplicaOutcome) => void,
): Promise<Replica | undefined> {
  if (replicaUrl === undefined) return undefined;
  const replica = openDatabase(poolTerms(replicaUrl, connections, logger));
  try {
    await requireBoundRole(replica, false, "DATABASE_REPLICA_URL");
  } catch (error) {
    if (!isAway(classifyFailure(error))) {
      await replica.close();
      throw error;
    }
    logger.warn("the replica is not there yet; the primary reads until it is");
  }
  const reads = createReplicaReads({ primary, replica, onOutcome });
  return { reads, pool: replica.pool, close: () => replica.close() };
}

function poolTerms(
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
    onSilent: (isSilent) => logger.warn(isSilent ? SILENT_WARNING : "the database is heard again"),
    onIdleError: () => logger.warn("a database connection broke while it was idle"),
  };
}

/**
 * What calls are done in, on a database. `onCommitted` is told of a tenant of which something has changed; `replica` reads what it
 * may in place of the database.
 */
export function createCallStore(
  database: Database,
  onCommitted: (tenantId: string) => void,
  replica: ReplicaReads | undefined,
): Pick<ChainPorts, "store" | "recordAccess"> {
  return {
    store: new UnitOfWork(database, { ...TRANSACTION_LIMITS, backOff, onCommitted, replica }),
    recordAccess: (call, patientIds) => insertAccessRecords(readyCall(call), patientIds),
  };
}

/**
 * Before anything is made in the name of a role that must not have it: rejects for one that row-level security does not bind.
 * Where somebody else migrates, the role may not be there yet.
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
  throw new Error(
    `The role in ${setting} is a superuser or has BYPASSRLS, so row-level security would not bind it. ` +
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

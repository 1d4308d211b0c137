import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import knex, { type Knex } from "knex";
import { fillSearchWords } from "../search/fill-search-words.js";
import { classifyFailure } from "../sql-errors.js";
import { JOB_QUEUE_REVISION, knownMigrations, MIGRATIONS_FOLDER } from "./known-migrations.js";
import { hasNewerMigrations, recordCompatibility } from "./newer-migrations.js";
import { grantServiceRights, roleOf } from "./service-role.js";

/** What a migration run needs. */
export interface MigrateOptions {
  /** postgres:// URL of the role that owns the tables, or is to own them. */
  readonly url: string;
  /** postgres:// URL of the service's role, which is given the rights it needs; the owner's unless given. */
  readonly serviceUrl?: string | undefined;
  /** For how many months the audit trail and the records of access are kept; undefined: for good. Takes effect where the owner migrates. */
  readonly auditRetentionMonths?: number | undefined;
  /** Called with a line for each migration before it runs. */
  readonly onProgress?: (text: string) => void;
}

/** Any number will do, as long as every release uses the same: it names the lock in pg_locks. */
const LOCK = 4_823_096_001;

/** How long a migration waits for a table. Calls that want it queue up behind who waits, and give up after a second. */
const PATIENCE = "SET LOCAL lock_timeout = '300ms'";
/** With a pause of half a second between them, some five minutes. */
const MAX_TRIES = 400;

/**
 * Brings the schema up to date. Several processes may do so at once: an advisory lock lets one work and the others wait.
 * The lock belongs to a transaction, so that it ends with the process that holds it, also behind a connection pooler.
 * Each migration is one transaction; one that was cut off left nothing behind and runs again. One that does not get a table
 * soon gives way to the calls that have it, and tries again. The job queue has migrations
 * of its own, in a schema of its own.
 *
 * Who does not own the tables may only find them up to date; rejects otherwise. A schema that a newer release has migrated is
 * left as it is, with the rights in it, if what was added goes with this release; rejects otherwise.
 */
export async function migrate({ url, serviceUrl, auditRetentionMonths, onProgress }: MigrateOptions): Promise<void> {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const connection = { connectionString: address.href, application_name: "cupo-migrate" };
  const log = { warn: () => undefined };
  const database = knex({ client: "pg", connection, pool: { min: 0, max: 3 }, log });
  try {
    await database.transaction(async (lock) => {
      await lock.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
      const isNewer = await bringUpToDate(database, address.href, onProgress);
      if (isNewer) return;
      await keepAudit(lock, auditRetentionMonths);
      if (serviceUrl !== undefined) await grantServiceRights(lock, roleOf(new URL(serviceUrl)));
    });
  } catch (error) {
    if (!(error instanceof Error) || classifyFailure(error) !== "FORBIDDEN") throw error;
    throw new Error(
      `The schema is not up to date, and its role may not change it (${error.message}). Run migrate with ` +
        "MIGRATION_DATABASE_URL, the URL of the role that owns the tables, or is to own them.",
      { cause: error },
    );
  } finally {
    await database.destroy();
  }
}

/** Says whether the schema is newer than this release. */
async function bringUpToDate(database: Knex, url: string, onProgress: MigrateOptions["onProgress"]): Promise<boolean> {
  const migrationSource = new SqlMigrations(onProgress);
  const config = { migrationSource, tableName: "schema_migrations", disableMigrationsListValidation: true };
  const [applied, pending] = (await database.migrate.list(config)) as [{ name: string }[], unknown[]];
  const known = await knownMigrations();
  const isNewer = await hasNewerMigrations(
    database,
    applied.map(({ name }) => name),
    known,
  );
  if (pending.length > 0) await database.migrate.forceFreeMigrationsLock(config);
  if ((await jobQueueRevision(database)) < JOB_QUEUE_REVISION) await migrateJobQueue(url);
  if (pending.length > 0) await applyPending(database, config);
  return isNewer;
}

async function applyPending(database: Knex, config: Knex.MigratorConfig): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      while ((await applyNext(database, config)) > 0) tries = 1;
      return;
    } catch (error) {
      const failure = classifyFailure(error);
      if ((failure !== "LOCK_TIMEOUT" && failure !== "RETRY") || tries === MAX_TRIES) throw error;
      await sleep(randomInt(250, 750));
    }
  }
}

/** In a transaction of its own, where `latest` would have all of them in one. Gives how many there were: one or none. */
async function applyNext(database: Knex, config: Knex.MigratorConfig): Promise<number> {
  const [, applied]: [number, string[]] = await database.migrate.up(config);
  return applied.length;
}

/** What the owner says; for the service it is as the owner has said. */
async function keepAudit(database: Knex.Transaction, months: number | undefined): Promise<void> {
  const stated = database("schema_partitions").whereIn("table_name", ["audit_events", "patient_access_records"]);
  const { rows } = await database.raw<{ rows: { owned: boolean }[] }>(
    "SELECT has_table_privilege('schema_partitions', 'UPDATE') AS owned",
  );
  if (rows[0]?.owned !== true) return;
  await stated
    .whereRaw("kept_months IS DISTINCT FROM ?::integer", [months ?? null])
    .update({ kept_months: months ?? null });
}

async function jobQueueRevision(database: Knex): Promise<number> {
  if (!(await database.schema.withSchema("graphile_worker").hasTable("migrations"))) return 0;
  const [row] = await database("graphile_worker.migrations").max<{ revision: number }[]>({ revision: "id" });
  return row?.revision ?? 0;
}

async function migrateJobQueue(connectionString: string): Promise<void> {
  const { Logger, runMigrations } = await import("graphile-worker");
  await runMigrations({ connectionString, logger: new Logger(() => () => undefined) });
}

/** What follows the SQL of a migration, in the same transaction. */
const FILLS: Readonly<Record<string, (database: Knex) => Promise<void>>> = {
  "0011-patient-directory": fillSearchWords,
};

class SqlMigrations implements Knex.MigrationSource<string> {
  readonly #onProgress: ((text: string) => void) | undefined;

  constructor(onProgress: ((text: string) => void) | undefined) {
    this.#onProgress = onProgress;
  }

  getMigrations(): Promise<string[]> {
    return knownMigrations();
  }

  getMigrationName(name: string): string {
    return name;
  }

  async getMigration(name: string): Promise<Knex.Migration> {
    const sql = await readFile(new URL(`${name}.sql`, MIGRATIONS_FOLDER), "utf8");
    return {
      up: async (database) => {
        this.#onProgress?.(`migrating to ${name}`);
        await database.raw(PATIENCE);
        await database.raw(sql);
        await recordCompatibility(database, name, sql);
        await FILLS[name]?.(database);
      },
      down: () => Promise.reject(new Error("migrations only go forward: restore a backup instead")),
    };
  }
}

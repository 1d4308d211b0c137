import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import knex, { type Knex } from "knex";
import { fillSearchWords } from "../search/fill-search-words.js";
import { classifyFailure } from "../sql-errors.js";
import { JOB_QUEUE_REVISION, knownMigrations, MIGRATIONS_FOLDER } from "./known-migrations.js";
import { hasNewerMigrations, oldestReleaseFor, oldestReleaseWith, recordCompatibility } from "./newer-migrations.js";
import { runStatements } from "./run-statements.js";
import { grantServiceRights, roleOf } from "./service-role.js";
import { checkServingReleases, type UpgradeOptions } from "./serving-releases.js";

/** Options of a migration run. */
export interface MigrateOptions extends UpgradeOptions {
  /** postgres:// URL of the role that owns the tables or will own them. */
  readonly url: string;
  /**
   * postgres:// URL of the service's role. The migration creates this role if it does not exist, and grants it the
   * rights that it needs. If undefined, no rights are granted.
   */
  readonly serviceUrl?: string | undefined;
  /**
   * How many months the audit trail and the access records are kept; undefined: without limit. Only the owner of the
   * tables can set this retention.
   */
  readonly auditRetentionMonths?: number | undefined;
}

/**
 * Key of the advisory lock of {@link migrate}. pg_locks shows it as `classid` 1 and `objid` 528128705. The number is
 * arbitrary, but every release must use the same number.
 */
const LOCK = 4_823_096_001;

/**
 * How long a migration waits for the lock of a table. Meanwhile, later calls on the table wait too. This wait is too
 * short to make them fail: a call fails only after it has waited for one second or longer.
 */
const PATIENCE = "SET LOCAL lock_timeout = '300ms'";
/** The maximum number of tries of one migration. With the pauses between them, they take about five minutes. */
const MAX_TRIES = 400;

/**
 * Brings the schema up to date. Several processes may call it at the same time: an advisory lock lets one process
 * work while the others wait. The lock belongs to a transaction, so PostgreSQL releases it if the process dies.
 *
 * Each migration is one transaction, so an interrupted migration leaves nothing behind and runs again. If a migration
 * does not get a table lock within 0.3 s, it rolls back and tries again, so that waiting calls can run.
 *
 * Rejects if:
 * - a serving release is too old for a pending migration, unless `despiteOlder` is set;
 * - the schema is not up to date and the role does not own the tables;
 * - the schema has a migration of a newer release that does not declare itself compatible with this release;
 * - a migration or {@link grantServiceRights} fails.
 *
 * If the schema has newer migrations and all are compatible, the rights and the retention stay unchanged.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { url, serviceUrl, auditRetentionMonths } = options;
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const connection = { connectionString: address.href, application_name: "cupo-migrate" };
  const log = { warn: () => undefined };
  const database = knex({ client: "pg", connection, pool: { min: 0, max: 3 }, log });
  try {
    await database.transaction(async (lock) => {
      await lock.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
      const isNewer = await bringUpToDate(database, address.href, options);
      if (isNewer) return;
      await keepAudit(lock, auditRetentionMonths);
      if (serviceUrl !== undefined) await grantServiceRights(lock, roleOf(new URL(serviceUrl)));
    });
  } catch (error) {
    if (!(error instanceof Error) || classifyFailure(error) !== "FORBIDDEN") throw error;
    const advice =
      serviceUrl === undefined || serviceUrl === url
        ? "Set MIGRATION_DATABASE_URL to the URL of the role that owns the tables or will own them."
        : "The role in MIGRATION_DATABASE_URL needs that right.";
    throw new Error(`${error.message}. The schema is not up to date, and this role may not change it. ${advice}`, {
      cause: error,
    });
  } finally {
    await database.destroy();
  }
}

/** Applies the pending migrations and updates the job queue. Returns whether the schema is newer than this release. */
async function bringUpToDate(database: Knex, url: string, options: MigrateOptions): Promise<boolean> {
  const migrationSource = new SqlMigrations(options.onProgress);
  const config = { migrationSource, tableName: "schema_migrations", disableMigrationsListValidation: true };
  const [rows, pending] = (await database.migrate.list(config)) as [{ name: string }[], string[]];
  const applied = rows.map(({ name }) => name);
  const isNewer = await hasNewerMigrations(database, applied, await knownMigrations());
  await checkServingReleases(database, { applied, oldest: await oldestBeside(pending), ...options });
  if (pending.length > 0) await database.migrate.forceFreeMigrationsLock(config);
  if ((await jobQueueRevision(database)) < JOB_QUEUE_REVISION) await migrateJobQueue(url);
  if (pending.length > 0) await applyPending(database, config);
  return isNewer;
}

/**
 * Finds the oldest release that can serve after these migrations are applied. Returns the name of its last migration.
 * Returns undefined if no migration is pending.
 */
async function oldestBeside(pending: readonly string[]): Promise<string | undefined> {
  const texts = new Map<string, string>();
  for (const name of pending) texts.set(name, await textOf(name));
  return oldestReleaseWith(pending, (name) => oldestReleaseFor(texts.get(name) ?? ""));
}

function textOf(migration: string): Promise<string> {
  return readFile(new URL(`${migration}.sql`, MIGRATIONS_FOLDER), "utf8");
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

/**
 * Applies the next migration in its own transaction. Knex's `latest` would apply all migrations in one transaction.
 * Returns the number of applied migrations, 0 or 1.
 */
async function applyNext(database: Knex, config: Knex.MigratorConfig): Promise<number> {
  const [, applied]: [number, string[]] = await database.migrate.up(config);
  return applied.length;
}

/**
 * Stores for how many months the audit trail and the access records are kept; undefined means for ever. Does nothing
 * for the service's role, which cannot change this number.
 */
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

/** Functions by the name of a migration. Each runs after the SQL of its migration, in the same transaction. */
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
    const sql = await textOf(name);
    return {
      up: async (database) => {
        this.#onProgress?.(`migrating to ${name}`);
        await database.raw(PATIENCE);
        await runStatements(database, name, sql);
        await recordCompatibility(database, name, sql);
        await FILLS[name]?.(database);
      },
      down: () => Promise.reject(new Error("migrations only go forward: restore a backup instead")),
    };
  }
}

import { readdir, readFile } from "node:fs/promises";
import knex, { type Knex } from "knex";

/** What a migration run needs. */
export interface MigrateOptions {
  readonly url: string;
  /** Called with a line for each migration before it runs. */
  readonly onProgress?: (text: string) => void;
}

const FOLDER = new URL("./migrations/", import.meta.url);
/** Any number will do, as long as every release uses the same: it names the lock in pg_locks. */
const LOCK = 4_823_096_001;

/**
 * Brings the schema up to date. Several processes may do so at once: an advisory lock lets one work and the others wait.
 * The lock belongs to a transaction, so that it ends with the process that holds it, also behind a connection pooler.
 * Each migration is one transaction; one that was cut off left nothing behind and runs again. The job queue has migrations
 * of its own, in a schema of its own.
 */
export async function migrate({ url, onProgress }: MigrateOptions): Promise<void> {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const connection = { connectionString: address.href, application_name: "cupo-migrate" };
  const database = knex({ client: "pg", connection, pool: { min: 0, max: 3 } });
  try {
    await database.transaction(async (lock) => {
      await lock.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
      const config = { migrationSource: new SqlMigrations(onProgress), tableName: "schema_migrations" };
      const [, pending] = (await database.migrate.list(config)) as [unknown[], unknown[]];
      if (pending.length === 0) return;
      await database.migrate.forceFreeMigrationsLock(config);
      await migrateJobQueue(address.href);
      await database.migrate.latest(config);
    });
  } finally {
    await database.destroy();
  }
}

async function migrateJobQueue(connectionString: string): Promise<void> {
  const { Logger, runMigrations } = await import("graphile-worker");
  await runMigrations({ connectionString, logger: new Logger(() => () => undefined) });
}

class SqlMigrations implements Knex.MigrationSource<string> {
  readonly #onProgress: ((text: string) => void) | undefined;

  constructor(onProgress: ((text: string) => void) | undefined) {
    this.#onProgress = onProgress;
  }

  async getMigrations(): Promise<string[]> {
    const names = await readdir(FOLDER);
    return names.filter((name) => name.endsWith(".sql")).toSorted();
  }

  getMigrationName(name: string): string {
    return name.replace(/\.sql$/, "");
  }

  async getMigration(name: string): Promise<Knex.Migration> {
    const sql = await readFile(new URL(name, FOLDER), "utf8");
    return {
      up: async (database) => {
        this.#onProgress?.(`migrating to ${this.getMigrationName(name)}`);
        await database.raw(sql);
      },
      down: () => Promise.reject(new Error("migrations only go forward: restore a backup instead")),
    };
  }
}

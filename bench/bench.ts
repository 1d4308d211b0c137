import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../src/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../src/postgres/migration/migrate.js";

/** What a part gets from the runner. */
export interface Bench {
  readonly database: BenchDatabase;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** The folder of another version, by `--other`. */
  readonly other: string | undefined;
  /** The folder for profiles, by `--out`. */
  readonly out: string | undefined;
  progress(text: string): void;
}

/** A migrated database on a server of its own. */
export interface BenchDatabase {
  /** A temporary folder, which the measured service shares as its data folder. */
  readonly dataDir: string;
  /** The URL of the service's role, which row-level security binds. */
  readonly url: string;
  readonly ownerUrl: string;
  /** Runs a statement as superuser and returns its rows. */
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Makes a checkpoint, so that every run begins at the same distance from one. After a checkpoint PostgreSQL writes
   * whole pages to its log.
   */
  checkpoint(): Promise<void>;
  /** Returns the process id of the server. */
  postmaster(): Promise<number>;
  /** Stops the server and removes the folder. */
  close(): Promise<void>;
}

/** A row of a result, by column. */
export type Row = Readonly<Record<string, unknown>>;

/** The tenant that single-tenant loads belong to. */
export const TENANT_ID = "0d3e0000-0000-4000-8000-0000000000be";

/** Returns a number from the environment. Throws if the variable does not hold one. */
export function setting(name: string, defaultValue: number): number {
  const text = process.env[name] || String(defaultValue);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`${name} must be a whole number, for example ${defaultValue}`);
}

/** Returns the compiled program of this folder. */
export function programOf(name: string): string {
  return resolve("build/bench", `${name}.js`);
}

/**
 * Starts the embedded PostgreSQL in a temporary folder, with the settings that it has in use, and migrates it: by the
 * migrations of the version in `folder`, if given.
 */
export async function openBenchDatabase(onProgress: (text: string) => void, folder?: string): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), "cupo-bench-"));
  await chmod(dataDir, 0o711);
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  try {
    const server = await startEmbeddedPostgres({ dataDir, onProgress });
    const { url, ownerUrl, superuserUrl } = server;
    await migrationOf(folder)({ url: ownerUrl, serviceUrl: url });
    const database = new URL(superuserUrl);
    database.pathname = new URL(url).pathname;
    const query = (sql: string, values: readonly unknown[] = []) => runQuery(database.href, sql, values);
    return {
      dataDir,
      url,
      ownerUrl,
      query,
      checkpoint: async () => void (await query("CHECKPOINT")),
      postmaster: async () => Number((await query(`SELECT ${POSTMASTER} AS pid`))[0]?.["pid"]),
      async close() {
        await server.stop();
        await removeFolder();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Returns the migration of the built version in a folder, or of this version. */
function migrationOf(folder: string | undefined): typeof migrate {
  if (folder === undefined) return migrate;
  const module = pathToFileURL(resolve(folder, "dist/postgres/migration/migrate.js")).href;
  return async (options) => ((await import(module)) as { migrate: typeof migrate }).migrate(options);
}

/** The server writes its process id into the first line of this file. */
const POSTMASTER = "split_part(pg_read_file('postmaster.pid'), E'\\n', 1)";

async function runQuery(connectionString: string, sql: string, values: readonly unknown[]): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Returns the number of rows of each table. */
export async function rowsOf(database: BenchDatabase, tables: readonly string[]): Promise<Map<string, number>> {
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
  const [row] = await database.query(`SELECT ${counts.join(", ")}`);
  return new Map(tables.map((table) => [table, Number(row?.[table])]));
}

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../dist/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/postgres/migration/migrate.js";

/**
 * Starts the PostgreSQL that comes with the packages, with the settings that it has in service, in a temporary folder
 * that the service measured shares as its data folder, and migrates it. `url` is the service's role, which row-level
 * security binds, and `ownerUrl` the one that owns the tables; `query` and `checkpoint` pass it by. `close` stops the server and removes the folder.
 *
 * @param {(text: string) => void} onProgress
 */
export async function openBenchDatabase(onProgress) {
  const dataDir = await mkdtemp(join(tmpdir(), "cupo-bench-"));
  await chmod(dataDir, 0o711);
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  try {
    const server = await startEmbeddedPostgres({ dataDir, onProgress });
    await migrate({ url: server.ownerUrl, serviceUrl: server.url });
    const url = new URL(server.superuserUrl);
    url.pathname = new URL(server.url).pathname;
    return {
      dataDir,
      url: server.url,
      ownerUrl: server.ownerUrl,
      query: (sql) => query(url.href, sql),
      /** Puts every run at the same distance from a checkpoint, after which pages are written to the WAL whole. */
      checkpoint: () => query(url.href, "CHECKPOINT"),
      close: () => server.stop().finally(removeFolder),
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function query(connectionString, sql) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

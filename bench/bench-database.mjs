import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../dist/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../dist/postgres/migration/migrate.js";

/**
 * Starts the PostgreSQL that comes with the packages, with the settings that it has in service, in a temporary folder
 * that the service measured shares as its data folder, and migrates it. `url` is the service's role, which row-level
 * security binds, and `ownerUrl` the one that owns the tables; `query` and `checkpoint` pass it by. `clone` gives a database of its
 * own with all that is in this one, to which nobody may be connected meanwhile. `close` stops the server and removes the folder.
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
    const { pathname } = new URL(server.url);
    return {
      dataDir,
      ownerUrl: server.ownerUrl,
      ...accessTo(server, pathname),
      clone: () => clone(server, pathname.slice(1)),
      close: () => server.stop().finally(removeFolder),
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

function accessTo(server, pathname) {
  const [url, superuserUrl] = [server.url, server.superuserUrl].map((text) =>
    Object.assign(new URL(text), { pathname }),
  );
  return {
    url: url.href,
    query: (sql, values) => query(superuserUrl.href, sql, values),
    /** Puts every run at the same distance from a checkpoint, after which pages are written to the WAL whole. */
    checkpoint: () => query(superuserUrl.href, "CHECKPOINT"),
  };
}

async function clone(server, template) {
  const name = `${template}_clone`;
  await query(server.superuserUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    ...accessTo(server, `/${name}`),
    drop: () => query(server.superuserUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

async function query(connectionString, sql, values) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { isUpToDate } from "../../src/postgres/migration/is-up-to-date.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { oldestReleaseFor } from "../../src/postgres/migration/newer-migrations.js";
import { createEmptyDatabase, createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";

test("brings an empty database up to date once, however many processes start at the same time", async () => {
  const url = await open(createEmptyDatabase());
  const progress: string[] = [];
  await Promise.all(Array.from({ length: 6 }, () => migrate({ url, onProgress: (text) => progress.push(text) })));
  const applied = await execute(url, "SELECT name FROM schema_migrations ORDER BY id");
  expect(progress).toEqual(applied.map((row) => `migrating to ${String(row["name"]).replace(/\.sql$/, "")}`));
  expect(applied.length).toBeGreaterThan(0);
});

test("has nothing to do, and says nothing, the second time", async () => {
  const url = await open(createTestDatabase());
  const progress: string[] = [];
  await migrate({ url, onProgress: (text) => progress.push(text) });
  expect(progress).toEqual([]);
});

test("is known to be done from one statement, and to be undone where something is missing or newer", async () => {
  const empty = new Client(await open(createEmptyDatabase()));
  await empty.connect();
  expect(await isUpToDate(empty)).toBe(false);
  await empty.end();
  const client = new Client(await open(createTestDatabase()));
  await client.connect();
  expect(await isUpToDate(client)).toBe(true);
  for (const change of [
    "INSERT INTO schema_migrations (name) VALUES ('9999-newer')",
    "DELETE FROM schema_migrations WHERE name = '0001-foundation'",
    "DELETE FROM graphile_worker.migrations WHERE id > 1",
    "DROP SCHEMA graphile_worker CASCADE",
  ]) {
    await client.query(`BEGIN; ${change}`);
    expect(await isUpToDate(client)).toBe(false);
    await client.query("ROLLBACK");
    expect(await isUpToDate(client)).toBe(true);
  }
  await client.end();
});

test("goes on where a process died that was migrating", async () => {
  const url = await open(createTestDatabase());
  await execute(
    url,
    "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)",
    "UPDATE schema_migrations_lock SET is_locked = 1",
  );
  await expect(migrate({ url })).rejects.toThrow(/already exists|duplicate key/);
  const [lock] = await execute(
    url,
    `SELECT count(*)::int AS locks FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE locktype = 'advisory' AND d.datname = current_database()`,
  );
  expect(lock?.["locks"]).toBe(0);
});

test("gives way to calls that have a table, holds up no other for long, and is done when they are", async () => {
  const url = await open(createTestDatabase());
  const table = "user_attention_cases";
  const migration = "0023-cases-by-appointment";
  const undo = [
    `DROP INDEX ${table}_appointment_idx`,
    `DELETE FROM schema_migrations WHERE name = '${migration}'`,
    `DELETE FROM schema_compatibility WHERE migration = '${migration}'`,
  ];
  await execute(url, ...undo);
  const caller = new Client(url);
  await caller.connect();
  await caller.query(`BEGIN; LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`);
  const migrated = migrate({ url });
  const waits = `SELECT FROM pg_locks WHERE relation = '${table}'::regclass AND NOT granted`;
  await eventually(async () => (await execute(url, waits)).length > 0);
  const other = ["BEGIN", "SET LOCAL lock_timeout = '5s'", `LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`, "COMMIT"];
  await execute(url, ...other);
  await caller.query("COMMIT");
  await caller.end();
  await migrated;
  expect(await execute(url, `SELECT FROM schema_migrations WHERE name = '${migration}'`)).toHaveLength(1);
});

describe("a schema that a newer release has migrated", () => {
  test("is left as it is by a release that the newer one says can work with it", async () => {
    const url = await open(createTestDatabase());
    await addNewer(url, "SELECT max(name) FROM schema_migrations");
    const progress: string[] = [];
    await migrate({ url, serviceUrl: unknownService(url), onProgress: (text) => progress.push(text) });
    expect(progress).toEqual([]);
  });

  test.each([
    ["says nothing of older ones", undefined],
    ["goes with newer ones only", "'9998-later'"],
  ])("is refused where it %s", async (_, oldest) => {
    const url = await open(createTestDatabase());
    await addNewer(url, oldest);
    await expect(migrate({ url })).rejects.toThrow("The schema has the migration 9999-newer");
  });

  /** Adds what a newer release leaves behind that goes with releases from one on, or says nothing of others. */
  async function addNewer(url: string, oldest: string | undefined): Promise<void> {
    const said = `INSERT INTO schema_compatibility SELECT '9999-newer', (${oldest})`;
    const applied = "INSERT INTO schema_migrations (name, batch, migration_time) VALUES ('9999-newer', 2, now())";
    await execute(url, ...(oldest === undefined ? [] : [said]), applied);
  }

  /** A role that would have to be made if the rights in the schema were to be those of this release. */
  function unknownService(url: string): string {
    const service = new URL(url);
    service.username = `${service.pathname.slice(1)}_service`;
    return service.href;
  }
});

test("each migration since compatibility is stated says from which release on it is compatible", async () => {
  const folder = new URL("../../src/postgres/migrations/", import.meta.url);
  const files = (await readdir(fileURLToPath(folder))).toSorted();
  const stated = await Promise.all(
    files.map(async (file) => [file, oldestReleaseFor(await readFile(new URL(file, folder), "utf8"))] as const),
  );
  const known = new Set(files.map((file) => file.replace(/\.sql$/, "")));
  const since = stated.filter(([file]) => file >= "0017");
  expect(since.filter(([, oldest]) => oldest === undefined || !known.has(oldest))).toEqual([]);
});

test("forces row-level security on every table of a tenant's, and puts tenant_id first in every key", async () => {
  const url = await open(createTestDatabase());
  const unprotected = await execute(
    url,
    `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
       AND relname NOT LIKE 'schema\\_%' AND relname <> 'option_token_keys' AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(unprotected).toEqual([]);
  const keys = await execute(
    url,
    `SELECT conname FROM pg_constraint c
       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
      WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = 'public'::regnamespace
        AND c.conrelid::regclass::text NOT LIKE 'schema\\_%'
        AND c.conrelid::regclass::text <> 'option_token_keys' AND a.attname <> 'tenant_id'`,
  );
  expect(keys).toEqual([]);
});

/** Where a database is reached as its owner, which is dropped behind the test. */
async function open(made: Promise<TestDatabase>): Promise<string> {
  const { ownerUrl, drop } = await made;
  onTestFinished(drop);
  return ownerUrl;
}

import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { isUpToDate } from "../../src/postgres/migration/is-up-to-date.js";
import { JOB_QUEUE_REVISION, knownMigrations } from "../../src/postgres/migration/known-migrations.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { oldestReleaseFor } from "../../src/postgres/migration/newer-migrations.js";
import { createEmptyDatabase, createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";

test("migrates an empty database once, even if many processes start at the same time", async () => {
  const url = await open(createEmptyDatabase());
  const progress: string[] = [];
  await Promise.all(Array.from({ length: 6 }, () => migrate({ url, onProgress: (text) => progress.push(text) })));
  const applied = await execute(url, "SELECT name FROM schema_migrations ORDER BY id");
  expect(progress).toEqual(applied.map((row) => `migrating to ${String(row["name"]).replace(/\.sql$/, "")}`));
  expect(applied.length).toBeGreaterThan(0);
});

test("the revision of the job queue is the last migration of the installed library", async () => {
  const files = await readdir(new URL("../sql/", import.meta.resolve("graphile-worker")));
  const numbers = files.filter((name) => name.endsWith(".sql")).map((name) => Number.parseInt(name, 10));
  expect(JOB_QUEUE_REVISION).toBe(Math.max(...numbers));
});

test("does nothing and logs nothing the second time", async () => {
  const url = await open(createTestDatabase());
  const progress: string[] = [];
  await migrate({ url, onProgress: (text) => progress.push(text) });
  expect(progress).toEqual([]);
});

test("one statement shows whether it is done, also if a migration is missing or newer", async () => {
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

test("continues after a process died while migrating", async () => {
  const url = await open(createTestDatabase());
  await execute(
    url,
    "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)",
    "UPDATE schema_migrations_lock SET is_locked = 1",
  );
  await expect(migrate({ url })).rejects.toThrow(/already exists|duplicate key|does not exist/);
  const [lock] = await execute(
    url,
    `SELECT count(*)::int AS locks FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE locktype = 'advisory' AND d.datname = current_database()`,
  );
  expect(lock?.["locks"]).toBe(0);
});

test("an error starts with the failure, then has the migration, the statement and its first words, and nothing else of the file", async () => {
  const url = await open(createTestDatabase());
  await execute(url, "DELETE FROM schema_migrations WHERE name = '0033-practitioner-exclusion'");
  await execute(url, "ALTER TABLE appointments DROP CONSTRAINT appointments_practitioner_excl");
  await expect(migrate({ url })).rejects.toThrow(
    /^constraint "appointments_practitioner_excl" of relation "appointments" does not exist \(migration 0033-practitioner-exclusion, statement 1 of 2: ALTER TABLE appointments DROP CONSTRAINT appointments_practi…\)$/,
  );
});

test("an error starts with the missing right, and does not suggest a setting that is already set", async () => {
  const { url: serviceUrl, ownerUrl: url, adminUrl, drop } = await createTestDatabase();
  onTestFinished(drop);
  await execute(
    adminUrl,
    "DELETE FROM schema_migrations WHERE name = '0033-practitioner-exclusion'",
    "ALTER TABLE appointments OWNER TO CURRENT_USER",
  );
  const cause =
    "must be owner of table appointments (migration 0033-practitioner-exclusion, statement 1 of 2: ALTER TABLE";
  const both = await messageOf(migrate({ url, serviceUrl }));
  expect(both.startsWith(cause)).toBe(true);
  expect(both).toMatch(/this role may not change it\. The role in MIGRATION_DATABASE_URL needs that right\.$/);
  const one = await messageOf(migrate({ url }));
  expect(one.startsWith(cause)).toBe(true);
  expect(one).toContain("Set MIGRATION_DATABASE_URL");
});

test("waits for calls that use a table, delays none for long, and completes when they end", async () => {
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

describe("a schema migrated by a newer release", () => {
  test("is left unchanged by a release that the newer one declares compatible", async () => {
    const url = await open(createTestDatabase());
    await addNewer(url, "SELECT max(name) FROM schema_migrations");
    const progress: string[] = [];
    await migrate({ url, serviceUrl: unknownService(url), onProgress: (text) => progress.push(text) });
    expect(progress).toEqual([]);
  });

  test.each([
    ["declares no older one compatible", undefined],
    ["declares only newer ones compatible", "'9998-later'"],
  ])("is rejected if it %s", async (_, oldest) => {
    const url = await open(createTestDatabase());
    await addNewer(url, oldest);
    const own = await knownMigrations();
    await expect(migrate({ url })).rejects.toThrow(
      `The database is at migration 9999-newer of a newer release. This release ends with migration ${own.at(-1)} and cannot ` +
        `serve it. The oldest release that can serve it ends with migration ${oldest === undefined ? "9999-newer" : "9998-later"}`,
    );
  });

  /**
   * Adds the records of a newer release, which is compatible with releases from `oldest` on. Undefined declares none
   * compatible.
   */
  async function addNewer(url: string, oldest: string | undefined): Promise<void> {
    const said = `INSERT INTO schema_compatibility SELECT '9999-newer', (${oldest})`;
    const applied = "INSERT INTO schema_migrations (name, batch, migration_time) VALUES ('9999-newer', 2, now())";
    await execute(url, ...(oldest === undefined ? [] : [said]), applied);
  }

  /** Returns the URL of a role that does not exist, which a migration of this release would have to create. */
  function unknownService(url: string): string {
    const service = new URL(url);
    service.username = `${service.pathname.slice(1)}_service`;
    return service.href;
  }
});

test("each migration since compatibility is declared names the oldest compatible release", async () => {
  const folder = new URL("../../src/postgres/migrations/", import.meta.url);
  const files = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith(".sql")).toSorted();
  const stated = await Promise.all(
    files.map(async (file) => [file, oldestReleaseFor(await readFile(new URL(file, folder), "utf8"))] as const),
  );
  const known = new Set(files.map((file) => file.replace(/\.sql$/, "")));
  const since = stated.filter(([file]) => file >= "0017");
  expect(since.filter(([, oldest]) => oldest === undefined || !known.has(oldest))).toEqual([]);
});

test("forces row-level security on each table of tenants, and puts tenant_id first in every key", async () => {
  const url = await open(createTestDatabase());
  const unprotected = await execute(
    url,
    `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
       AND relname NOT LIKE 'schema\\_%' AND relname NOT IN ('option_token_keys', 'webhook_keys') AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(unprotected).toEqual([]);
  const keys = await execute(
    url,
    `SELECT conname FROM pg_constraint c
       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
      WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = 'public'::regnamespace
        AND c.conrelid::regclass::text NOT LIKE 'schema\\_%'
        AND c.conrelid::regclass::text NOT IN ('option_token_keys', 'webhook_keys') AND a.attname <> 'tenant_id'`,
  );
  expect(keys).toEqual([]);
});

/** Returns the message of the error that a migration rejects with. */
async function messageOf(migrated: Promise<void>): Promise<string> {
  return migrated.then(
    () => "",
    (error: unknown) => String(error instanceof Error ? error.message : error),
  );
}

/** Returns the owner's URL of a database that is dropped after the test. */
async function open(made: Promise<TestDatabase>): Promise<string> {
  const { ownerUrl, drop } = await made;
  onTestFinished(drop);
  return ownerUrl;
}

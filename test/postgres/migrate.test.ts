import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { migrate } from "../../src/postgres/migrate.js";
import { execute, withDatabase } from "../support/database.js";

let url: string;
let name: string;

beforeEach(async () => {
  const { adminUrl, ownerUrl } = inject("testServer");
  name = `cupo_migrate_${randomBytes(6).toString("hex")}`;
  const owner = decodeURIComponent(new URL(ownerUrl).username);
  await execute(adminUrl, `CREATE DATABASE "${name}" OWNER "${owner}" TEMPLATE template0`);
  url = withDatabase(ownerUrl, name);
});

afterEach(async () => {
  await execute(inject("testServer").adminUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
});

test("brings an empty database up to date once, however many processes start at the same time", async () => {
  const progress: string[] = [];
  await Promise.all(Array.from({ length: 6 }, () => migrate({ url, onProgress: (text) => progress.push(text) })));
  const applied = await execute(url, "SELECT name FROM schema_migrations ORDER BY id");
  expect(progress).toEqual(applied.map((row) => `migrating to ${String(row["name"]).replace(/\.sql$/, "")}`));
  expect(applied.length).toBeGreaterThan(0);
});

test("has nothing to do, and says nothing, the second time", async () => {
  await migrate({ url });
  const progress: string[] = [];
  await migrate({ url, onProgress: (text) => progress.push(text) });
  expect(progress).toEqual([]);
});

test("goes on where a process died that was migrating", async () => {
  await migrate({ url });
  await execute(
    url,
    "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)",
    "UPDATE schema_migrations_lock SET is_locked = 1",
  );
  await expect(migrate({ url })).rejects.toThrow("already exists");
  const [lock] = await execute(url, "SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory'");
  expect(lock?.["locks"]).toBe(0);
});

test("forces row-level security on every table of a tenant's, and puts tenant_id first in every key", async () => {
  await migrate({ url });
  const open = await execute(
    url,
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       AND relname NOT LIKE 'schema_migrations%' AND relname <> 'option_token_keys' AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(open).toEqual([]);
  const keys = await execute(
    url,
    `SELECT conname FROM pg_constraint c
       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
      WHERE c.contype IN ('p', 'u', 'f') AND c.connamespace = 'public'::regnamespace
        AND c.conrelid::regclass::text NOT LIKE 'schema_migrations%'
        AND c.conrelid::regclass::text <> 'option_token_keys' AND a.attname <> 'tenant_id'`,
  );
  expect(keys).toEqual([]);
});

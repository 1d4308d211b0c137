import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { purgeIdempotencyKeys } from "../../src/jobs/purges.js";
import type { Database } from "../../src/postgres/database.js";
import { purgeKeyBatch } from "../../src/postgres/idempotency-keys.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";

let testDatabase: TestDatabase;
let proxy: PostgresProxy;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await startPostgresProxy(testDatabase.url);
});

afterAll(async () => {
  await proxy.close();
  await testDatabase.drop();
});

beforeEach(async () => {
  await execute(testDatabase.adminUrl, "TRUNCATE idempotency_keys");
  database = openServiceDatabase(proxy.url);
});

afterEach(async () => {
  await database.close();
});

describe("a purge", () => {
  test("deletes keys older than 72 hours of every tenant and leaves younger ones", async () => {
    const tenants = [randomUUID(), randomUUID(), randomUUID()];
    await addKeys({ age: "72 hours 1 minute", tenants });
    await addKeys({ age: "40 days", tenants });
    await addKeys({ age: "71 hours 59 minutes", tenants });
    await addKeys({ age: "0 hours", tenants });
    expect(await purgeIdempotencyKeys(database)).toBe(6);
    expect(await ages()).toEqual([0, 0, 0, 71, 71, 71]);
  });

  test("uses the given retention, which row-level security enforces", async () => {
    await addKeys({ age: "71 hours" });
    await addKeys({ age: "49 hours" });
    await addKeys({ age: "47 hours" });
    expect((await purgeKeyBatch(database, 10, undefined, 70)).deleted).toBe(1);
    expect((await purgeKeyBatch(database, 10, undefined, 48)).deleted).toBe(1);
    expect(await ages()).toEqual([47]);
  });

  test("without expired keys deletes nothing", async () => {
    expect(await purgeIdempotencyKeys(database)).toBe(0);
  });

  test.each([
    { old: 999, batches: 1 },
    { old: 1_000, batches: 2 },
    { old: 2_500, batches: 3 },
  ])("of $old keys takes $batches batches, each in its own transaction", async ({ old, batches }) => {
    await addKeys({ age: "73 hours", count: old });
    await addKeys({ age: "1 hour" });
    let acquired = 0;
    database.pool.on("acquire", () => {
      acquired += 1;
    });
    expect(await purgeIdempotencyKeys(database)).toBe(old);
    expect(acquired).toBe(batches);
    expect(await ages()).toEqual([1]);
  });

  test("begins each batch where the last one ended, not at the dead entries before it", async () => {
    await addKeys({ age: "73 hours", count: 1_500 });
    let batches = 0;
    const acquire = async () => {
      batches += 1;
      if (batches === 2) await addKeys({ age: "40 days" });
      return database.acquire();
    };
    const source = { ...database, acquire };
    expect(await purgeIdempotencyKeys(source)).toBe(1_500);
    expect(await ages()).toEqual([960]);
    expect(await purgeIdempotencyKeys(source)).toBe(1);
  });

  test("keeps the committed batches if a later one fails, and the next purge continues", async () => {
    await addKeys({ age: "73 hours", count: 1_500 });
    database.pool.once("release", () => proxy.cutBefore("COMMIT"));
    await expect(purgeIdempotencyKeys(database)).rejects.toThrow();
    expect(await ages()).toHaveLength(500);
    expect(await purgeIdempotencyKeys(database)).toBe(500);
  });

  test("can run in several processes concurrently", async () => {
    await addKeys({ age: "73 hours", count: 1_200 });
    const deleted = await Promise.all(Array.from({ length: 4 }, () => purgeIdempotencyKeys(database)));
    expect(deleted.reduce((sum, count) => sum + count)).toBe(1_200);
    expect(await ages()).toEqual([]);
  });
});

describe("row-level security", () => {
  test("gives access to all tenants only with a purge setting", async () => {
    await addKeys({ age: "73 hours", count: 3 });
    expect(await execute(testDatabase.url, "DELETE FROM idempotency_keys RETURNING 1")).toEqual([]);
    expect(await ages()).toHaveLength(3);
  });

  test("prevents a purge from reading, changing or deleting keys within the retention", async () => {
    await addKeys({ age: "71 hours", count: 2 });
    const asPurge = (statement: string) =>
      execute(testDatabase.url, "SET cupo.purge_retention = '72 hours'", statement);
    expect(await asPurge("SELECT 1 FROM idempotency_keys")).toEqual([]);
    expect(await asPurge("DELETE FROM idempotency_keys RETURNING 1")).toEqual([]);
    await addKeys({ age: "73 hours" });
    expect(await asPurge("UPDATE idempotency_keys SET created_at = now() RETURNING 1")).toEqual([]);
    expect(await asPurge("SELECT 1 FROM idempotency_keys")).toHaveLength(1);
    expect(await asPurge("SELECT 1 FROM audit_events")).toEqual([]);
  });

  test("rejects a retention of less than a day, for any setting", async () => {
    await addKeys({ age: "23 hours", count: 2 });
    await expect(purgeKeyBatch(database, 10, undefined, 22)).rejects.toMatchObject({ code: "22023" });
    expect(await ages()).toHaveLength(2);
  });

  test("prevents the deletion of option tokens that have not expired", async () => {
    const token = `INSERT INTO consumed_option_tokens VALUES ('${randomUUID()}', '${randomUUID()}', now() + interval '1 hour')`;
    await execute(testDatabase.adminUrl, token);
    const early = ["SET cupo.purge_retention = '-2 hours'", "DELETE FROM consumed_option_tokens"];
    await expect(execute(testDatabase.url, ...early)).rejects.toMatchObject({ code: "22023" });
    await execute(testDatabase.url, "SET cupo.purge_retention = '0'", "DELETE FROM consumed_option_tokens");
    expect(await execute(testDatabase.adminUrl, "SELECT 1 FROM consumed_option_tokens")).toHaveLength(1);
  });
});

/** Inserts `count` keys of an age for each tenant, without row-level security. */
async function addKeys(keys: { age: string; tenants?: readonly string[]; count?: number }): Promise<void> {
  const { age, tenants = [randomUUID()], count = 1 } = keys;
  await execute(
    testDatabase.adminUrl,
    `INSERT INTO idempotency_keys (tenant_id, key_hash, operation, fingerprint, correlation_id, response, created_at)
     SELECT tenant::uuid, sha256(gen_random_uuid()::text::bytea), 'test', sha256(''), gen_random_uuid(), '',
       now() - interval '${age}'
     FROM unnest(ARRAY['${tenants.join("', '")}']) AS tenant, generate_series(1, ${count})`,
  );
}

/** Returns the ages of all keys in whole hours, the youngest first. */
async function ages(): Promise<unknown[]> {
  const rows = await execute(
    testDatabase.adminUrl,
    `SELECT (extract(epoch FROM now() - created_at) / 3600)::numeric(9, 2) AS hours FROM idempotency_keys ORDER BY 1`,
  );
  return rows.map(({ hours }) => Math.floor(Number(hours)));
}

import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { purgeAll, purgeOptionTokens } from "../../src/jobs/purges.js";
import type { Database } from "../../src/postgres/database.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements } from "../support/sent-statements.js";

let empty: TestDatabase;
let database: Database;

beforeAll(async () => {
  empty = await createTestDatabase();
  database = openServiceDatabase(empty.url);
});

afterAll(async () => {
  await database.close();
  await empty.drop();
});

test("deletes tokens of every tenant that expired more than a day ago, in batches", async () => {
  await addTokens("25 hours", 1_500);
  await addTokens("23 hours", 2);
  await addTokens("-10 minutes", 3);
  expect(await purgeOptionTokens(database, new AbortController().signal)).toBe(1_500);
  expect(await execute(empty.adminUrl, "SELECT count(*)::int AS left FROM consumed_option_tokens")).toEqual([
    { left: 5 },
  ]);
  const asPurge = (statement: string) => execute(empty.url, "SET cupo.purge_retention = '24 hours'", statement);
  expect(await asPurge("SELECT 1 FROM consumed_option_tokens")).toEqual([]);
  expect(await asPurge("DELETE FROM consumed_option_tokens RETURNING 1")).toEqual([]);
});

test("are deleted although another purge fails, and the job fails then", async () => {
  await addTokens("25 hours", 1);
  await lockTable("idempotency_keys");
  await expect(purgeAll(database)).rejects.toThrow("lock timeout");
  expect(await purgeOptionTokens(database)).toBe(0);
});

test("are deleted by the job that purges each table with a retention; events get positions before that", async () => {
  const proxy = await startPostgresProxy(empty.url);
  const sent = recordStatements(proxy);
  const watched = openServiceDatabase(proxy.url);
  onTestFinished(async () => {
    await watched.close();
    await proxy.close();
  });
  await purgeAll(watched);
  const steps = sent().flatMap(({ text }) => /DELETE FROM (\w+) WHERE|\b(event_outbox)\b/.exec(text)?.slice(1) ?? []);
  expect(steps.filter((table) => table !== undefined)).toEqual([
    "idempotency_keys",
    "consumed_option_tokens",
    "appointment_holds",
    "quota_windows",
    "event_outbox",
    "event_positions",
    "webhook_deliveries",
  ]);
});

/** Locks a table against changes until the end of the test. */
async function lockTable(name: string): Promise<void> {
  const holder = new Client(empty.adminUrl);
  onTestFinished(() => holder.end());
  await holder.connect();
  await holder.query(`BEGIN; LOCK TABLE ${name} IN EXCLUSIVE MODE`);
}

async function addTokens(age: string, count: number): Promise<void> {
  await execute(
    empty.adminUrl,
    `INSERT INTO consumed_option_tokens
     SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '${age}' FROM generate_series(1, ${count})`,
  );
}

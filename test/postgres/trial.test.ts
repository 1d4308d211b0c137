import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import type { Database } from "../../src/postgres/database.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { sql } from "../../src/postgres/sql.js";
import { onTrial } from "../../src/postgres/tables/trial.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 10_000, idleTimeoutMs: 10_000 };
const tenantId = randomUUID();

let created: TestDatabase;
let database: Database;

beforeAll(async () => {
  created = await createTestDatabase();
  database = openServiceDatabase(created.url);
});

afterAll(async () => {
  await database.close();
  await created.drop();
});

test("a trial returns the result of its work and undoes the work, but nothing that came before it", async () => {
  const found = await inTransaction(async (transaction) => {
    transaction.send(addProgress("2030-01-01"));
    const tried = await onTrial(transaction, async () => {
      transaction.send(sql.raw("UPDATE time_event_progress SET through = '2030-01-02'"));
      return through(transaction);
    });
    return [tried, await through(transaction)];
  });
  expect(found).toEqual([["2030-01-02"], ["2030-01-01"]]);
});

test("a trial fails if a statement of its work fails whose result nobody awaits", async () => {
  const tried = inTransaction((transaction) =>
    onTrial(transaction, async () => transaction.send(sql.raw("SELECT 1 / 0"))),
  );
  await expect(tried).rejects.toThrow("division by zero");
});

function inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return runAsTenant(database, tenantId, LIMITS, work);
}

function addProgress(date: string) {
  return sql.raw("INSERT INTO time_event_progress (tenant_id, through) VALUES (?, ?)", [tenantId, date]);
}

async function through(transaction: Transaction): Promise<string[]> {
  const rows = await transaction.rows<{ date: string }>(
    sql.raw("SELECT through::date AS date FROM time_event_progress"),
  );
  return rows.map(({ date }) => date);
}

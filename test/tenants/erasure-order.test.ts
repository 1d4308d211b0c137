import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Statement } from "../../src/call.js";
import { findRunningTransactions, finishErasure } from "../../src/postgres/tables/tenants/erasure.js";
import { testNow } from "../support/clock.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";

const OWN_ID = "SELECT virtualxid AS id FROM pg_locks WHERE locktype = 'virtualxid' AND pid = pg_backend_pid()";

let database: TestDatabase;
let elsewhere: TestDatabase;

beforeAll(async () => {
  [database, elsewhere] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});

afterAll(() => Promise.all([database.drop(), elsewhere.drop()]));

test("an erasure waits for the other transactions of its database, and for no others", async () => {
  const clients = [database, database, elsewhere].map(({ url }) => new Client(url));
  const ids = await Promise.all(clients.map(beginIn));
  const [own] = clients as [Client];
  const running = await findRunningTransactions(transactionOf(own, randomUUID()));
  expect(ids.map((id) => running.includes(id))).toEqual([false, true, false]);
  await Promise.all(clients.map((client) => client.end()));
});

test("an erasure is finished only for a tenant that is being erased", async () => {
  const client = new Client(database.url);
  await client.connect();
  const tenantId = randomUUID();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  await client.query(`INSERT INTO tenants (tenant_id, display_name, state, version, created_at, updated_at)
    VALUES ('${tenantId}', 'Clínica Los Cerezos', 'ACTIVE', 1, now(), now())`);
  expect(await finishErasure(transactionOf(client, tenantId), new Date(testNow()))).toBe(false);
  const { rows } = await client.query("SELECT state, version FROM tenants");
  expect(rows).toEqual([{ state: "ACTIVE", version: 1 }]);
  await client.end();
});

/** Begins a transaction and returns its virtual id. */
async function beginIn(client: Client): Promise<string> {
  await client.connect();
  await client.query("BEGIN");
  return (await client.query(OWN_ID)).rows[0].id;
}

function transactionOf(client: Client, tenantId: string) {
  return {
    tenantId,
    rows: async (statement: Statement) => {
      const { sql, bindings } = statement.toSQL().toNative();
      return (await client.query(sql, [...bindings])).rows;
    },
    send: () => expect.unreachable("the statements are awaited"),
    require: () => expect.unreachable("the statements are awaited"),
  };
}

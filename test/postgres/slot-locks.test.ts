import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import { lockSlots } from "../../src/postgres/tables/schedule/slot-locks.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();

let database: TestDatabase;
let clients: readonly [Client, Client];

beforeAll(async () => {
  database = await createTestDatabase();
  clients = [new Client(database.url), new Client(database.url)];
  for (const client of clients) {
    await client.connect();
    await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  }
  const size = { slotsAhead: 2_000, slotsBehind: 500 };
  for (const statement of fillSchedule(tenantId, size)) await clients[0].query(statement);
});

afterAll(async () => {
  for (const client of clients) await client.end();
  await database.drop();
});

const [firstSlotId, occupiedBy] = [numbered(1_600), numbered(513)];
const run = { firstSlotId, minutes: 60 };

test.each([
  ["of a run", { run }],
  ["of a run and of an appointment", { run, occupiedBy }],
])("a slot %s that another transaction changes is waited for and returned as changed", async (_, which) => {
  const [other, mine] = clients;
  await other.query("BEGIN");
  await other.query(`UPDATE slots SET generation = generation + 1 WHERE id = '${firstSlotId}'`);
  await mine.query("BEGIN");
  const locked = lockSlots(transactionOf(mine), which);
  await eventually(() => isWaitedFor(other));
  await other.query("COMMIT");
  const found = (await locked).find(({ id }) => id === firstSlotId);
  const { rows } = await mine.query(`SELECT generation FROM slots WHERE id = '${firstSlotId}'`);
  await mine.query("ROLLBACK");
  expect(found?.generation).toBe(rows[0].generation);
});

async function isWaitedFor(client: Client): Promise<boolean> {
  const query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return (await client.query(query)).rowCount === 1;
}

function transactionOf(client: Client): Transaction {
  return {
    tenantId,
    send: () => undefined,
    require: () => undefined,
    async rows(statement) {
      const { sql, bindings } = statement.toSQL().toNative();
      return (await client.query(sql, bindings as unknown[])).rows;
    },
  };
}

import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import {
  lockFormerSlots,
  lockSlots,
  lockSlotsOf,
  lockSlotsOfRuns,
} from "../../src/postgres/tables/schedule/slot-locks.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
/** The number of a free slot of the second practitioner in the first program, at the time of slot 521. */
const OF_SUBSTITUTE = 90_001;

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
  await clients[0].query(
    `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
     SELECT tenant_id, '${numbered(OF_SUBSTITUTE)}', program_id, rule_id, '${numbered(2)}', local_date, starts_at, ends_at, 1
     FROM slots WHERE id = '${numbered(521)}'`,
  );
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
  const locked = lockSlots(
    transactionOn(() => mine, tenantId),
    which,
  );
  await eventually(() => isWaitedFor(other));
  await other.query("COMMIT");
  const found = (await locked).find(({ id }) => id === firstSlotId);
  const { rows } = await mine.query(`SELECT generation FROM slots WHERE id = '${firstSlotId}'`);
  await mine.query("ROLLBACK");
  expect(found?.generation).toBe(rows[0].generation);
});

/** A run of three slots of the tenth program. The second slot is retained for an appointment. */
const interrupted = { firstSlotId: numbered(630), minutes: 60 };
/** An appointment in a slot of the first program. The slot has the same number. */
const appointmentId = numbered(521);

test.each<[string, (transaction: Transaction) => ReturnType<typeof lockSlots>, number[]]>([
  ["of a run", (transaction) => lockSlots(transaction, { run }), [1_600, 1_610, 1_620]],
  ["of a run, without retained ones", (transaction) => lockSlots(transaction, { run: interrupted }), [630, 650]],
  ["of an appointment", (transaction) => lockSlots(transaction, { occupiedBy: appointmentId }), [521]],
  [
    "of a run and of an appointment",
    (transaction) => lockSlots(transaction, { run, occupiedBy: appointmentId }),
    [521, 1_600, 1_610, 1_620],
  ],
  [
    "of several runs and appointments",
    (transaction) => lockSlotsOfRuns(transaction, [run, interrupted], [appointmentId, numbered(640)]),
    [521, 630, 640, 650, 1_600, 1_610, 1_620],
  ],
  ["at the time of an appointment", (transaction) => lockFormerSlots(transaction, appointmentId), [521]],
  [
    "of appointments, and those of other practitioners at their times",
    (transaction) => lockSlotsOf(transaction, [appointmentId, numbered(640)], [numbered(2)]),
    [521, OF_SUBSTITUTE, 640],
  ],
])("the slots %s are locked, and no others", async (_, lock, expected) => {
  const locked = await lock(transactionOn(() => clients[1], tenantId));
  expect(locked.map(({ id }) => Number(id.slice(-12)))).toEqual(expected);
});

async function isWaitedFor(client: Client): Promise<boolean> {
  const query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return (await client.query(query)).rowCount === 1;
}

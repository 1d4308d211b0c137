import { randomUUID } from "node:crypto";
import { escapeIdentifier } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import type { Database } from "../../src/postgres/database.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { sql } from "../../src/postgres/sql.js";
import type { SlotPlan } from "../../src/postgres/tables/schedule/planned-slots.js";
import { previewSlots } from "../../src/postgres/tables/schedule/schedule-preview.js";
import { addMissingSlots, lockChangingSlots } from "../../src/postgres/tables/schedule/slot-plan.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 10_000 };
const programId = randomUUID();
const localDate = "2026-11-19";
const now = new Date("2026-11-18T12:00:00Z");
const plan: SlotPlan = {
  programIds: [programId],
  from: localDate,
  through: localDate,
  practitionerId: undefined,
  staff: [{ programId, practitionerId: randomUUID() }],
  runs: [{ programId, ruleId: randomUUID(), localDate, startsAt: "2026-11-19T13:00:00Z", minutes: 30, count: 8 }],
  obstacles: {
    blocks: [],
    inactivePrograms: [],
    programsAtInactiveLocations: [],
    inactivePractitioners: [],
    holidays: [],
  },
};

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const name = escapeIdentifier(new URL(testDatabase.url).pathname.slice(1));
  await execute(testDatabase.adminUrl, `ALTER DATABASE ${name} SET jit = on`);
  database = openServiceDatabase(testDatabase.url, 1);
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

test.each<[string, (transaction: Transaction) => unknown]>([
  ["is locked", (transaction) => lockChangingSlots(transaction, plan, now)],
  ["is added to", (transaction) => addMissingSlots(transaction, plan, now)],
  ["is previewed", (transaction) => previewSlots(transaction, plan, now, { limit: 10 })],
])("PostgreSQL uses no JIT compilation when a schedule %s", async (_, work) => {
  const shown = await runAsTenant(database, randomUUID(), LIMITS, async (transaction) => {
    await work(transaction);
    return transaction.rows(sql.raw("SHOW jit"));
  });
  expect(shown).toEqual([{ jit: "off" }]);
});

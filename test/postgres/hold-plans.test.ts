import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreeOption, type WantedOption } from "../../src/postgres/tables/holds/free-options.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { expectFewBlocks } from "./explained-reads.js";
import { FIRST_START, fillSchedule, numbered } from "./schedule-fill.js";

const SLOTS = 20_000;
/** As many options as a call can name. */
const OPTIONS = 21;
const LIMITS = { blocks: 2 * 60 * OPTIONS, rows: 4 * OPTIONS };

const tenantId = randomUUID();
const start = new Date(FIRST_START);
const principal = { organizationId: undefined, companyId: undefined };
const wanted = { serviceId: numbered(1), by: { patientId: numbered(1) }, nowMs: start.getTime() };
let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: SLOTS, slotsBehind: 0 })) await client.query(statement);
  await execute(database.ownerUrl, "VACUUM ANALYZE");
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

test.each(["force_custom_plan", "force_generic_plan"])(
  `the choice of a free option among ${SLOTS} slots reads few blocks, by %s`,
  async (mode) => {
    const { rows: options } = await client.query<WantedOption>(
      `SELECT gen_random_uuid() AS jti, s.id AS "slotId", 20 AS minutes, s.generation, p.location_id AS "locationId",
         p.emergency
       FROM slots s JOIN programs p ON p.tenant_id = s.tenant_id AND p.id = s.program_id
       WHERE s.appointment_id IS NULL AND s.starts_at > $1 ORDER BY s.starts_at, s.id LIMIT $2`,
      [start, OPTIONS],
    );
    const context = { client, tenantId, largeTables: new Set(["slots", "appointments", "day_counters"]) };
    const found = await expectFewBlocks(context, { mode, ...LIMITS }, (transaction) =>
      findFreeOption(transaction, principal, options, wanted),
    );
    expect(options.map(({ slotId }) => slotId)).toContain(found);
  },
);

test.each([
  ["one slot is locked", [20, 40], 1],
  ["several slots is not locked, and neither is another", [40, 20], 0],
])("the first free option of %s", async (_, minutes, locked) => {
  const transaction = transactionOn(() => client, tenantId);
  const { rows: options } = await client.query<WantedOption>(
    `SELECT gen_random_uuid() AS jti, s.id AS "slotId", s.generation, p.location_id AS "locationId", p.emergency,
       ($2::integer[])[row_number() OVER (ORDER BY s.starts_at, s.id)::integer] AS minutes
     FROM slots s JOIN slots n USING (tenant_id, program_id, practitioner_id)
       JOIN programs p ON p.tenant_id = s.tenant_id AND p.id = s.program_id
     WHERE s.appointment_id IS NULL AND n.appointment_id IS NULL AND n.starts_at = s.ends_at AND s.starts_at > $1
     ORDER BY s.starts_at, s.id LIMIT 2`,
    [start, minutes],
  );
  await client.query("BEGIN");
  const found = await findFreeOption(transaction, principal, options, wanted);
  const ofMine = await client.query("SELECT id FROM slots WHERE xmax = pg_current_xact_id()::xid");
  await client.query("ROLLBACK");
  expect(found).toBe(options[0]?.slotId);
  expect(ofMine.rows).toEqual(options.slice(0, locked).map(({ slotId }) => ({ id: slotId })));
});

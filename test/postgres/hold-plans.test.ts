import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreeOption, type WantedOption } from "../../src/postgres/tables/holds/free-options.js";
import { countLiveHolds } from "../../src/postgres/tables/holds/holds.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { type ExplainContext, expectFewBlocks } from "./explained-reads.js";
import { FIRST_START, fillSchedule, numbered } from "./schedule-fill.js";

const SLOTS = 20_000;
/** As many options as a call can name. */
const OPTIONS = 21;
const LIMITS = { blocks: 2 * 60 * OPTIONS, rows: 4 * OPTIONS };

const tenantId = randomUUID();
const start = new Date(FIRST_START);
const principal = { organizationId: undefined, companyId: undefined };
const wanted = { serviceId: numbered(1), isBound: true, by: { patientId: numbered(1) }, nowMs: start.getTime() };
let database: TestDatabase;
let client: Client;
let context: ExplainContext;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  const largeTables = new Set(["slots", "appointments", "day_counters", "appointment_holds"]);
  context = { client, tenantId, largeTables };
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: SLOTS, slotsBehind: 0 })) await client.query(statement);
  for (const statement of fillOtherPatients()) await client.query(statement);
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
    const found = await expectFewBlocks(context, { mode, ...LIMITS }, (transaction) =>
      findFreeOption(transaction, principal, options, wanted),
    );
    expect(options).toContain(found);
  },
);

test.each(
  ["force_custom_plan", "force_generic_plan"].flatMap((mode) =>
    [{ patientId: numbered(1) }, { appointmentId: numbered(3) }].map((subject) => ({ mode, subject })),
  ),
)("the count of a patient's live holds reads few of the tenant's: $subject, by $mode", async ({ mode, subject }) => {
  const found = await expectFewBlocks(context, { mode, blocks: 20, rows: 4 }, (transaction) =>
    countLiveHolds(transaction, subject, start.getTime()),
  );
  expect(found).toBeLessThanOrEqual(1);
});

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
  expect(found).toBe(options[0]);
  expect(ofMine.rows).toEqual(options.slice(0, locked).map(({ slotId }) => ({ id: slotId })));
});

/**
 * Returns statements that add about 2,000 appointments in the hour before the first option, and as many live
 * holds. All are of other patients and of a practitioner without options.
 */
function fillOtherPatients(): string[] {
  const id = "('00000000-0000-7000-8000-' || lpad((n + 1)::text, 12, '0'))::uuid";
  const one = numbered(1);
  const other = numbered(99);
  const from = (time: string) => `${time}, ${time} + interval '1 second'`;
  const count = "FROM generate_series(1, 1999) AS n";
  const earlier = `timestamptz '${FIRST_START}' - n * interval '1 second'`;
  const later = `timestamptz '${FIRST_START}' + n * interval '1 hour'`;
  return [
    `INSERT INTO practitioners (tenant_id, id, code, full_name, active, version, created_at, updated_at)
     VALUES ('${tenantId}', '${other}', '99', 'Médica', true, 1, now(), now())`,
    `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at,
       ends_at, status, version, created_at, updated_at, rule_id, local_date, request_source_id, appointment_type_id)
     SELECT '${tenantId}', gen_random_uuid(), ${id}, '${one}', '${one}', '${other}', '${one}', ${from(earlier)}, 'CONFIRMED',
       1, now(), now(), '${one}', '${FIRST_START}', '${one}', '${one}' ${count}`,
    `INSERT INTO appointment_holds (tenant_id, id, patient_id, service_id, program_id, rule_id, practitioner_id, location_id,
       slot_id, local_date, starts_at, ends_at, uses_unit, principal, expires_at, created_at)
     SELECT '${tenantId}', gen_random_uuid(), ${id}, '${one}', '${one}', '${one}', '${other}', '${one}',
       gen_random_uuid(), '${FIRST_START}', ${from(later)}, true, 'issuer client', 'infinity', now() ${count}`,
  ];
}

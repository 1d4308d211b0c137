import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isFirstVisit } from "../../src/postgres/tables/appointments/first-visits.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type AppointmentRow, appointmentRow } from "./appointment-rows.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const [OTHER, SLOT] = [numbered(1), numbered(1_001)];
const who = { patientId: numbered(1), serviceId: numbered(1) };

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
  await client.query(`${slot(1_001, "2030-05-05")}; ${slot(1_002, "2031-05-05")}`);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe.each([
  ["on a date", { localDate: "2030-05-05" }],
  ["in a slot", { slotId: SLOT }],
])("a visit %s", (_, on) => {
  test.each<[boolean, AppointmentRow]>([
    [true, { startsAt: "2029-12-31T23:59:00-05:00" }],
    [false, { startsAt: "2030-01-01T00:00:00-05:00" }],
    [false, { startsAt: "2030-12-31T23:59:00-05:00" }],
    [true, { startsAt: "2031-01-01T00:00:00-05:00" }],
    [false, { startsAt: "2030-03-03T08:00:00-05:00", status: "ATTENDED" }],
    [true, { startsAt: "2030-03-03T08:00:00-05:00", status: "CANCELLED" }],
    [true, { startsAt: "2030-03-03T08:00:00-05:00", status: "NO_SHOW" }],
    [true, { startsAt: "2030-03-03T08:00:00-05:00", service: 2 }],
    [true, { startsAt: "2030-03-03T08:00:00-05:00", patient: 2 }],
  ])("is the first one of the year: %s, beside the appointment %o", async (isFirst, appointment) => {
    await client.query(appointmentRow(tenantId, 1, appointment));
    expect(await isFirstVisit(transaction, { ...who, on })).toBe(isFirst);
    expect(await isFirstVisit(transaction, { ...who, on }, [OTHER])).toBe(true);
  });
});

function slot(id: number, date: string): string {
  return `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
    SELECT '${tenantId}', '${numbered(id)}', one, one, one, '${date}', '${date} 08:00-05', '${date} 08:20-05', 1
    FROM (SELECT '${numbered(1)}'::uuid AS one) AS first`;
}

import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  findBusyAgain,
  findBusyBeside,
  findBusyInRun,
  nobodyBusy,
} from "../../src/postgres/tables/appointments/busy-people.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { appointmentRow } from "./appointment-rows.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const NOW_MS = Date.parse("2030-01-01T00:00:00Z");
/** Two slots of the first practitioner, from 8:00 to 8:40. */
const run = { firstSlotId: numbered(1_001), minutes: 40 };
const patientId = numbered(1);
/** A type of 20 minutes with a buffer of 20 minutes, and one without a buffer. */
const [BUFFERED, PLAIN] = [numbered(2), numbered(1)];
const practitioner = { isPractitionerBusy: true, isPatientBusy: false };
const patient = { isPractitionerBusy: false, isPatientBusy: true };

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
  await client.query(`${slot(1_001, "08:00")}; ${slot(1_002, "08:20")}; ${slot(1_003, "08:40")}`);
  await client.query(`INSERT INTO appointment_types (tenant_id, id, code, name, active, version, created_at, updated_at,
      duration_minutes, opportunity_definition_id, buffer_minutes)
    SELECT tenant_id, '${BUFFERED}', '2', name, active, 1, now(), now(), 20, opportunity_definition_id, 20
    FROM appointment_types`);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe("beside an appointment of the patient in the second slot, elsewhere, the patient is busy for", () => {
  beforeEach(() => insert(1, "08:20", { patient: 1, practitioner: 2 }));

  test.each([
    ["both slots", {}, patient],
    ["a type without a buffer", { appointmentTypeId: PLAIN }, patient],
    ["a type whose buffer begins then", { appointmentTypeId: BUFFERED }, nobodyBusy],
    ["a visit until then", { visitMinutes: 20 }, nobodyBusy],
    ["a visit until later", { visitMinutes: 21, appointmentTypeId: BUFFERED }, patient],
  ])("%s: %o", async (_, terms, expected) => {
    expect(await findBusyInRun(transaction, run, { patientId }, { nowMs: NOW_MS, ...terms })).toEqual(expected);
    if ("appointmentTypeId" in terms) return;
    const beside = { patientId, exceptIds: [numbered(9)] };
    expect(await findBusyBeside(transaction, run, beside, { nowMs: NOW_MS, ...terms })).toEqual(expected);
    const without = { patientId, exceptIds: [numbered(1)] };
    expect(await findBusyBeside(transaction, run, without, { nowMs: NOW_MS, ...terms })).toEqual(nobodyBusy);
  });
});

describe("an appointment to move", () => {
  beforeEach(() => insert(1, "08:00", { patient: 1, practitioner: 1 }));

  test("makes nobody busy at its own time, and others do", async () => {
    await insert(2, "09:00", { patient: 2, practitioner: 1 });
    const found = () => findBusyInRun(transaction, run, { appointmentId: numbered(1) }, { nowMs: NOW_MS });
    expect(await found()).toEqual(nobodyBusy);
    await insert(3, "08:20", { patient: 3, practitioner: 1 });
    expect(await found()).toEqual(practitioner);
    expect(await findBusyAgain(transaction, numbered(1), NOW_MS)).toEqual(nobodyBusy);
  });

  test("is as long as its visit, without its buffer", async () => {
    await client.query("UPDATE appointments SET ends_at = ends_at + interval '20 min', visit_ends_at = ends_at");
    await insert(2, "08:20", { patient: 1, practitioner: 2 });
    const found = () => findBusyInRun(transaction, run, { appointmentId: numbered(1) }, { nowMs: NOW_MS });
    expect([await found(), await findBusyAgain(transaction, numbered(1), NOW_MS)]).toEqual([nobodyBusy, nobodyBusy]);
  });
});

test("in the buffer of an appointment, its practitioner is busy and its patient is free", async () => {
  await insert(1, "07:40", { patient: 1, practitioner: 1 });
  await client.query("UPDATE appointments SET ends_at = ends_at + interval '20 min', visit_ends_at = ends_at");
  expect(await findBusyInRun(transaction, run, { patientId }, { nowMs: NOW_MS })).toEqual(practitioner);
  await client.query(`UPDATE appointments SET practitioner_id = '${numbered(2)}', visit_ends_at = ends_at`);
  expect(await findBusyInRun(transaction, run, { patientId }, { nowMs: NOW_MS })).toEqual(patient);
});

describe("a hold in the second slot makes its practitioner busy", () => {
  test.each([
    ["until it expires", "08:20", NOW_MS + 60_000, practitioner],
    ["but not once it has expired", "08:20", NOW_MS, nobodyBusy],
    ["but not if it ends when the slots begin", "07:40", NOW_MS + 60_000, nobodyBusy],
    ["but not if it begins when they end", "08:40", NOW_MS + 60_000, nobodyBusy],
  ])("%s", async (_, time, expiryMs, expected) => {
    await client.query(`INSERT INTO appointment_holds (tenant_id, id, patient_id, service_id, program_id, rule_id,
        practitioner_id, location_id, slot_id, local_date, starts_at, ends_at, uses_unit, principal, expires_at, created_at)
      SELECT '${tenantId}', one, '${numbered(2)}', one, one, one, one, one, one, '2030-01-08', start,
        start + interval '20 min', false, 'issuer client', '${new Date(expiryMs).toISOString()}', now()
      FROM (SELECT '${numbered(1)}'::uuid AS one, timestamptz '2030-01-08 ${time}-05' AS start) AS first`);
    const terms = { nowMs: NOW_MS };
    expect(await findBusyInRun(transaction, run, { patientId }, terms)).toEqual(expected);
    expect(await findBusyInRun(transaction, run, { patientId }, { ...terms, holdId: numbered(1) })).toEqual(nobodyBusy);
    await client.query("UPDATE appointment_holds SET ended_at = created_at");
    expect(await findBusyInRun(transaction, run, { patientId }, terms)).toEqual(nobodyBusy);
  });
});

test("nobody is busy in slots that do not exist, or for an unknown appointment", async () => {
  const unknown = { firstSlotId: numbered(1_009), minutes: 20 };
  const found = [
    await findBusyInRun(transaction, unknown, { patientId }, { nowMs: NOW_MS }),
    await findBusyBeside(transaction, unknown, { patientId, exceptIds: [] }, { nowMs: NOW_MS }),
    await findBusyAgain(transaction, numbered(9), NOW_MS),
  ];
  const nobody = { isPractitionerBusy: false, isPatientBusy: false };
  expect(found).toEqual([nobody, nobody, nobody]);
});

async function insert(id: number, time: string, people: { patient: number; practitioner: number }): Promise<void> {
  await client.query(appointmentRow(tenantId, id, { startsAt: `2030-01-08T${time}:00-05:00`, ...people }));
}

function slot(id: number, time: string): string {
  return `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
    SELECT '${tenantId}', '${numbered(id)}', one, one, one, '2030-01-08', start, start + interval '20 min', 1
    FROM (SELECT '${numbered(1)}'::uuid AS one, timestamptz '2030-01-08 ${time}-05' AS start) AS first`;
}

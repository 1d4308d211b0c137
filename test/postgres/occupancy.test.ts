import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../src/call.js";
import { readOccupancy } from "../../src/postgres/tables/appointments/occupancy.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { appointmentRow } from "./appointment-rows.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const caller = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
const principal: Principal = { ...caller, tenantId, organizationId: undefined, companyId: undefined };
/** A Tuesday. */
const DATE = "2030-01-08";
/** The minutes of a rule, from 7:00 to 15:00. */
const HOURS = 480;

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
  // The n-th practitioner works in the n-th program. The first program is at the second location.
  await client.query(`INSERT INTO program_practitioners (tenant_id, program_id, practitioner_id, position)
    SELECT tenant_id, id, id, 0 FROM programs WHERE id <= '${numbered(3)}'`);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe("the hours of a day under a block", () => {
  test.each<[string, number, string]>([
    ["its practitioner", HOURS, block("practitioner_id", 1)],
    ["its program", HOURS, block("program_id", 1)],
    ["its location", HOURS, block("location_id", 2)],
    ["two that overlap", HOURS, `${block("program_id", 1)}; ${block("location_id", 2)}`],
    ["a part of the day", 60, block("program_id", 1, at("06:00"), at("08:00"))],
    ["the hours before the rule", 0, block("program_id", 1, at("05:00"), at("07:00"))],
    ["the day before", 0, block("program_id", 1, at("00:00", "2030-01-07"), at("00:00"))],
    ["the day after", 0, block("program_id", 1, at("00:00", "2030-01-09"), at("00:00", "2030-01-10"))],
    ["a cancelled block", 0, `${block("program_id", 1)}; UPDATE schedule_blocks SET cancelled_at = updated_at`],
    ["an inactive location", 0, `${block("program_id", 1)}; ${set("locations", 2, "active = false")}`],
    ["another inactive location", HOURS, `${block("program_id", 1)}; ${set("locations", 1, "active = false")}`],
    ["an inactive program", 0, `${block("program_id", 1)}; ${set("programs", 1, "active = false")}`],
    ["an inactive practitioner", 0, `${block("program_id", 1)}; ${set("practitioners", 1, "active = false")}`],
    ["an inactive rule", 0, `${block("program_id", 1)}; ${set("program_rules", 1, "active = false")}`],
    ["a rule of other weekdays", 0, `${block("program_id", 1)}; ${set("program_rules", 1, "weekdays = '{1,3}'")}`],
    ["a holiday", 0, `${block("program_id", 1)}; ${holiday(DATE, true)}`],
    ["a holiday that is not active", HOURS, `${block("program_id", 1)}; ${holiday(DATE, false)}`],
    ["a holiday of the next day", HOURS, `${block("program_id", 1)}; ${holiday("2030-01-09", true)}`],
  ])("of %s are %i minutes, only for the first program", async (_, minutes, change) => {
    await client.query(change);
    const blocked = (await occupancy()).map(({ programId, blockedMinutes }) => [programId, blockedMinutes]);
    expect(blocked).toEqual(minutes === 0 ? [] : [[numbered(1), minutes]]);
  });

  test("are those of one practitioner, if only this one is requested", async () => {
    await client.query(`${block("program_id", 1)}; ${block("program_id", 2)}`);
    const found = await occupancy({ practitionerId: numbered(2) });
    expect(found.map(({ practitionerId }) => practitionerId)).toEqual([numbered(2)]);
  });
});

test("each program has its own appointments and its own slots, of which live holds take some", async () => {
  for (const n of [1, 2, 3]) {
    await client.query(
      appointmentRow(tenantId, n, { patient: n, practitioner: n, program: n, startsAt: `${DATE} 09:00-05` }),
    );
    await client.query(`${slot(n, "08:00")}; ${slot(n, "08:20")}`);
    await client.query(hold(n, "08:00"));
  }
  await client.query(set("appointment_holds", 2, `expires_at = '${DATE}T05:00:00Z'`));
  await client.query(set("appointment_holds", 3, "ended_at = created_at"));
  const found = await occupancy();
  expect(found.map(({ open, held, booked, capacityLeft }) => [open, held, booked, capacityLeft])).toEqual([
    [1, 1, 1, 9_999],
    [2, 0, 1, 9_998],
    [2, 0, 1, 9_997],
  ]);
});

function occupancy(filter: { readonly practitionerId?: string } = {}) {
  const range = { from: new Date(`${DATE}T00:00:00-05:00`), to: new Date("2030-01-09T00:00:00-05:00") };
  const anywhere = { programId: undefined, practitionerId: undefined, locationId: undefined };
  return readOccupancy(transaction, principal, { ...range, now: range.from, ...anywhere, ...filter, limit: 100 });
}

function at(time: string, date = DATE): string {
  return `${date}T${time}:00-05:00`;
}

function set(table: string, id: number, change: string): string {
  return `UPDATE ${table} SET ${change} WHERE id = '${numbered(id)}'`;
}

/** Returns SQL for a block of a practitioner, program or location. Defaults to the whole date. */
function block(target: string, id: number, from = at("00:00"), to = at("00:00", "2030-01-09")): string {
  return `INSERT INTO schedule_blocks (tenant_id, id, ${target}, starts_at, ends_at, kind, version, created_at, updated_at)
    VALUES ('${tenantId}', gen_random_uuid(), '${numbered(id)}', '${from}', '${to}', 'MEETING', 1, now(), now())`;
}

function holiday(date: string, active: boolean): string {
  return `INSERT INTO holidays (tenant_id, id, date, name, active, version, created_at, updated_at)
    VALUES ('${tenantId}', gen_random_uuid(), '${date}', 'Festivo', ${active}, 1, now(), now())`;
}

function slot(place: number, time: string): string {
  return `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
    SELECT '${tenantId}', gen_random_uuid(), place, place, place, '${DATE}', start, start + interval '20 min', 1
    FROM (SELECT '${numbered(place)}'::uuid AS place, timestamptz '${at(time)}' AS start) AS given`;
}

function hold(place: number, time: string): string {
  return `INSERT INTO appointment_holds (tenant_id, id, patient_id, service_id, program_id, rule_id, practitioner_id, location_id,
      slot_id, local_date, starts_at, ends_at, uses_unit, principal, expires_at, created_at)
    SELECT '${tenantId}', place, place, place, place, place, place, place, place, '${DATE}', start, start + interval '20 min',
      false, 'issuer client', start, now()
    FROM (SELECT '${numbered(place)}'::uuid AS place, timestamptz '${at(time)}' AS start) AS given`;
}

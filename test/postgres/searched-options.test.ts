import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Principal } from "../../src/call.js";
import type { OptionQuery } from "../../src/postgres/tables/appointments/free-slots.js";
import { type OptionRecord, searchOptions } from "../../src/postgres/tables/appointments/option-search.js";
import { dayPeriods } from "../../src/scheduling/day-periods.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { FIRST_START, fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const caller = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
const principal: Principal = { ...caller, tenantId, organizationId: undefined, companyId: undefined };
/** Minimum notice of the tenant. */
const NOTICE_MINUTES = 40;
/** A day without capacity left. */
const FULL_DAY = "2030-01-11";
const [PATIENT, OTHER_PATIENT] = [numbered(1), numbered(2)];
/** An appointment of the busy patient, from 7:00 to 11:00 on the full day. */
const TO_MOVE = numbered(90_004);

/**
 * Each program lacks other slots. The seventh is open for today and tomorrow, and has a slot at the end of tomorrow.
 * The patient and the first practitioner are busy from 7:00 to 11:00 on each day.
 */
const UNEVEN = [
  `DELETE FROM slots WHERE appointment_id IS NULL AND (right(id::text, 12)::integer / 10 * 3 + right(id::text, 12)::integer) % 5 < 3`,
  `UPDATE programs SET horizon_days = 1 WHERE id = '${numbered(7)}'`,
  `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
   SELECT '${tenantId}', '${numbered(91_000)}', seventh, seventh, seventh, '2030-01-09', '2030-01-09 00:00-05',
     '2030-01-09 00:20-05', 1 FROM (SELECT '${numbered(7)}'::uuid AS seventh) AS program`,
  `INSERT INTO tenant_settings (tenant_id, minimum_notice_minutes, version, created_at, updated_at)
   VALUES ('${tenantId}', ${NOTICE_MINUTES}, 1, now(), now())`,
  `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at,
     ends_at, status, version, created_at, updated_at, local_date, request_source_id, appointment_type_id, overbooked,
     overbooking_reason)
   SELECT tenant_id, ('00000000-0000-7000-8000-0000000' || 90000 + day)::uuid, '${PATIENT}', service_id, program_id,
     practitioner_id, location_id, '${FIRST_START}'::timestamptz + day * interval '1 day',
     '${FIRST_START}'::timestamptz + day * interval '1 day' + interval '4 hours', 'PENDING', 1, now(), now(),
     '${FIRST_START}'::date + day, request_source_id, appointment_type_id, true, 'Urgente'
   FROM appointments, generate_series(0, 4) AS day WHERE id = '${numbered(521)}'`,
];

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  const filled = fillSchedule(tenantId, { slotsAhead: 1_300, slotsBehind: 500 });
  for (const statement of [...filled, ...UNEVEN]) await client.query(statement);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Conditions on a slot `s` that has not begun, and on its practitioner and patient. */
const isFree = `s.appointment_id IS NULL AND s.starts_at >= '${FIRST_START}'::timestamptz + interval '${NOTICE_MINUTES} min'
  AND (s.program_id <> '${numbered(7)}' OR s.starts_at < '2030-01-09 00:00-05')`;
const isAvailable = `NOT EXISTS (SELECT FROM appointments a WHERE a.practitioner_id = s.practitioner_id AND a.id <> '${TO_MOVE}'
  AND a.status NOT IN ('CANCELLED', 'NO_SHOW') AND a.starts_at < s.ends_at AND a.ends_at > s.starts_at)`;
const inMorning = "(s.starts_at AT TIME ZONE 'America/Bogota')::time BETWEEN '06:00' AND '11:59'";
const patientIsFree = "(s.starts_at AT TIME ZONE 'America/Bogota')::time >= '11:00'";
const dayIsNotFull = `s.local_date <> '${FULL_DAY}'`;

test.each<[string, Partial<OptionQuery>, string]>([
  ["all", {}, dayIsNotFull],
  [
    "those of a practitioner",
    { practitionerId: numbered(3) },
    `${dayIsNotFull} AND practitioner_id = '${numbered(3)}'`,
  ],
  [
    "those at a location",
    { locationId: numbered(2) },
    `${dayIsNotFull} AND program_id IN (SELECT id FROM programs WHERE location_id = '${numbered(2)}')`,
  ],
  ["those of the morning", { windows: dayPeriods.MORNING }, `${dayIsNotFull} AND ${inMorning}`],
  ["those of the night", { windows: dayPeriods.NIGHT }, "false"],
  ["those at which a patient is free", { patientId: PATIENT }, `${dayIsNotFull} AND ${patientIsFree}`],
  [
    "those from one slot's start to another's",
    { from: at("2030-01-08", "07:20"), to: at("2030-01-09", "09:00") },
    `s.starts_at >= '2030-01-08 07:20-05' AND s.starts_at < '2030-01-09 09:00-05'`,
  ],
  ["none, from a full day on", { from: at(FULL_DAY, "00:00"), to: at("2030-01-12", "00:00") }, "false"],
  ["those before a full day", { from: at("2030-01-10", "13:00"), to: at(FULL_DAY, "12:00") }, dayIsNotFull],
  [
    "those to move an appointment to, on the full day that it already uses too",
    { appointmentId: TO_MOVE, heldDay: { ruleId: numbered(3), localDate: FULL_DAY } },
    `(${dayIsNotFull} OR rule_id = '${numbered(3)}')`,
  ],
])("a search finds %s, in order and over all pages", async (_, changes, condition) => {
  const query = { ...wholeWeek(), ...changes };
  const isAlsoAvailable =
    query.appointmentId === undefined ? isAvailable.replace(`AND a.id <> '${TO_MOVE}'`, "") : isAvailable;
  const expected = await client.query(
    `SELECT s.id FROM slots s WHERE ${isFree} AND ${isAlsoAvailable} AND s.starts_at >= $1 AND s.starts_at < $2 AND ${condition}`,
    [query.from, query.to],
  );
  const found = await walk(query);
  const starts = found.map(({ startsAt }) => startsAt.getTime());
  expect(starts).toEqual(starts.toSorted((one, other) => one - other));
  expect(new Set(found.map(({ slotId }) => slotId))).toEqual(new Set(expected.rows.map(({ id }) => id)));
  expect(found).toHaveLength(expected.rows.length);
});

test("searches for different patients begin with different slots of the same time", async () => {
  const firsts = new Set<string | undefined>();
  for (let n = 2; n < 10; n++)
    firsts.add((await search({ ...wholeWeek(), patientId: numbered(n), limit: 1 }))[0]?.slotId);
  expect(firsts.size).toBeGreaterThan(1);
});

/** Returns the options of all pages. */
async function walk(query: OptionQuery): Promise<OptionRecord[]> {
  const found: OptionRecord[] = [];
  for (let page: OptionRecord[]; ; found.push(...page)) {
    const last = found.at(-1);
    page = await search({ ...query, after: last && { startsAt: last.startsAt, id: last.slotId } });
    if (page.length < query.limit) return [...found, ...page];
  }
}

function search(query: OptionQuery): Promise<OptionRecord[]> {
  return searchOptions(transaction, principal, query);
}

function at(date: string, time: string): Date {
  return new Date(`${date}T${time}:00-05:00`);
}

function wholeWeek(): OptionQuery {
  return {
    patientId: OTHER_PATIENT,
    appointmentId: undefined,
    heldDay: undefined,
    serviceId: numbered(1),
    minutes: undefined,
    visitMinutes: undefined,
    from: new Date(FIRST_START),
    to: at("2030-01-12", "00:00"),
    windows: [],
    locationId: undefined,
    practitionerId: undefined,
    includeEmergency: false,
    now: new Date(FIRST_START),
    after: undefined,
    limit: 30,
  };
}

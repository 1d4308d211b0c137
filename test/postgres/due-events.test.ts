import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  findPlacedTimes,
  lockDueAppointments,
  lockExpiredEntries,
} from "../../src/postgres/tables/time-events/due-events.js";
import { isStillAwaited, isStillExpired } from "../../src/postgres/tables/time-events/outdated-events.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { appointmentRow } from "./appointment-rows.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const [FIRST, SECOND] = [numbered(1), numbered(2)];

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe("an event one hour before and 15 minutes after the start is due from 10:00, exclusive, to 10:30, inclusive,", () => {
  test.each<[string, string, boolean]>([
    ["PENDING", "11:00:00", false],
    ["PENDING", "11:00:01", true],
    ["CONFIRMED", "11:30:00", true],
    ["PENDING", "11:30:01", false],
    ["CONFIRMED", "09:45:00", false],
    ["PENDING", "09:45:01", true],
    ["PENDING", "10:15:00", true],
    ["PENDING", "10:15:01", false],
    ["CHECKED_IN", "11:15:00", false],
    ["CANCELLED", "11:15:00", false],
  ])("for a %s appointment at %s: %s", async (status, time, isDue) => {
    await client.query(appointmentRow(tenantId, 1, { status, startsAt: at(time) }));
    const window = { after: new Date(at("10:00:00")), until: new Date(at("10:30:00")) };
    const due = await lockDueAppointments(transaction, window, [60, -15]);
    expect(due.map(({ id }) => id)).toEqual(isDue ? [FIRST] : []);
  });
});

describe("a waitlist entry has expired between two dates", () => {
  test.each([
    ["2030-01-06", "open", false],
    ["2030-01-07", "open", true],
    ["2030-01-08", "open", true],
    ["2030-01-09", "open", false],
    ["2030-01-08", "closed", false],
  ])("if it ends on %s and is %s: %s", async (dateTo, state, hasExpired) => {
    await client.query(entry(1, dateTo, state));
    const expired = await lockExpiredEntries(transaction, "2030-01-07", "2030-01-09");
    expect(expired.map(({ id }) => id)).toEqual(hasExpired ? [FIRST] : []);
  });
});

test("the start of an appointment was set when it was booked or last moved, not when it was changed otherwise", async () => {
  await bookBoth();
  await client.query(change(FIRST, 1, "09:00", "08:00", undefined));
  await client.query(change(FIRST, 2, "09:10", "08:30", "08:00"));
  await client.query(change(FIRST, 3, "09:20", "08:30", "08:30"));
  await client.query(change(SECOND, 1, "09:30", "08:00", undefined));
  const placed = await findPlacedTimes(transaction, [FIRST, numbered(3)]);
  expect([...placed]).toEqual([[FIRST, new Date(at("09:10:00"))]]);
});

describe("an event of version 2 of an appointment", () => {
  test.each([
    ["PENDING", true],
    ["CONFIRMED", true],
    ["ATTENDED", false],
    ["CANCELLED", false],
  ])("of status %s still applies: %s", async (status, applies) => {
    await bookBoth(status);
    expect(await isStillAwaited(transaction, FIRST, 2)).toBe(applies);
  });

  test.each<[string, boolean, Parameters<typeof change>]>([
    ["version 3 moved it", false, [FIRST, 3, "09:00", "08:30", "08:00"]],
    ["version 2 moved it", true, [FIRST, 2, "09:00", "08:30", "08:00"]],
    ["version 3 kept its start", true, [FIRST, 3, "09:00", "08:00", "08:00"]],
    ["version 3 of another one moved that", true, [SECOND, 3, "09:00", "08:30", "08:00"]],
  ])("still applies if %s: %s", async (_, applies, changed) => {
    await bookBoth();
    await client.query(change(...changed));
    expect(await isStillAwaited(transaction, FIRST, 2)).toBe(applies);
  });
});

describe("on 2030-01-08, the expiry of a waitlist entry applies", () => {
  test.each([
    ["2030-01-07", "open", true],
    ["2030-01-08", "open", false],
    ["2030-01-09", "open", false],
    ["2030-01-07", "closed", false],
  ])("if it ends on %s and is %s: %s", async (dateTo, state, applies) => {
    await client.query(`${entry(1, dateTo, state)}; ${entry(2, "2030-01-07", "open")}`);
    expect(await isStillExpired(transaction, FIRST, "2030-01-08")).toBe(applies);
  });
});

function at(time: string): string {
  return `2030-01-08T${time}-05:00`;
}

async function bookBoth(status = "PENDING"): Promise<void> {
  await client.query(appointmentRow(tenantId, 1, { status, startsAt: at("11:00:00") }));
  await client.query(appointmentRow(tenantId, 2, { startsAt: at("15:00:00"), patient: 2, practitioner: 2 }));
}

function entry(id: number, dateTo: string, state: string): string {
  return `INSERT INTO waitlist_entries (tenant_id, id, patient_id, service_id, date_from, date_to, preferred_periods, status,
      created_at, closed_at, closed_by, close_reason)
    SELECT '${tenantId}', '${numbered(id)}', '${FIRST}', '${FIRST}', '2030-01-01', '${dateTo}', '{MORNING}', 'ACTIVE', now(),
      closed, left(closed::text, 1), left(closed::text, 1)
    FROM (SELECT CASE '${state}' WHEN 'closed' THEN now() END AS closed) AS time`;
}

/** Returns SQL for a change of an appointment to a start, at a time. A booking has no former start `before`. */
function change(id: string, version: number, time: string, start: string, before: string | undefined): string {
  const from = before === undefined ? "NULL" : `'${at(`${before}:00`)}'`;
  return `INSERT INTO appointment_history (tenant_id, appointment_id, version, from_starts_at, to_status, to_starts_at,
      to_ends_at, to_program_id, to_practitioner_id, principal, correlation_id, changed_at)
    VALUES ('${tenantId}', '${id}', ${version}, ${from}, 'PENDING', '${at(`${start}:00`)}', '${at("12:00:00")}', '${FIRST}',
      '${FIRST}', 'issuer client', '${FIRST}', '${at(`${time}:00`)}')`;
}

import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findFreeOption } from "../../src/postgres/tables/holds/free-options.js";
import {
  findOfferableSlot,
  findOfferedSlot,
  findWaitingEntries,
} from "../../src/postgres/tables/holds/offerable-slots.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { FIRST_START, fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
/** A free slot of the fourth practitioner and program at the second location, from 8:20 to 8:40. */
const SLOT = numbered(44);
/** The free slots after it, and an appointment of the practitioner, from 10:00 to 10:20. */
const [NEXT, AFTER_NEXT, APPOINTMENT] = [numbered(54), numbered(64), numbered(94)];
const START_MS = Date.parse("2030-01-07T08:20:00-05:00");
const NOW_MS = Date.parse(FIRST_START);
const EXPIRY = new Date("2030-01-07T07:30:00-05:00");
/** SQL that makes the fifth patient the one of the appointment. */
const ofPatient = set("appointments", APPOINTMENT, `patient_id = '${numbered(5)}'`);

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.ownerUrl);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 200, slotsBehind: 0 })) await client.query(statement);
  await client.query("ALTER TABLE slots NO FORCE ROW LEVEL SECURITY");
  for (const table of ["locations", "practitioners", "programs"])
    await client.query(`UPDATE ${table} SET active = false WHERE id = '${numbered(1)}'`);
  await client.query(`INSERT INTO freed_slots (tenant_id, slot_id, practitioner_id, starts_at, due_at)
    SELECT tenant_id, id, practitioner_id, starts_at, '-infinity' FROM slots WHERE id IN ('${SLOT}', '${NEXT}')`);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Changes after which a slot cannot be booked. */
const closing: readonly [string, string][] = [
  ["is occupied", set("slots", SLOT, `appointment_id = '${APPOINTMENT}'`)],
  ["has a busy practitioner", move(APPOINTMENT, "08:39", "08:59")],
  ["is on a full day", full("2030-01-07", 4)],
];

describe("a slot", () => {
  test("is open, and held by nobody", async () => {
    const slot = await findOfferableSlot(transaction, SLOT, NOW_MS);
    const place = { programId: numbered(4), practitionerId: numbered(4), locationId: numbered(2), emergency: false };
    expect(slot).toMatchObject({ slotId: SLOT, ...place, isOpen: true });
    expect(slot?.heldUntil).toBeUndefined();
  });

  test.each([
    ...closing,
    ["is in an inactive program", set("programs", numbered(4), "active = false")],
    ["is in an emergency program", set("programs", numbered(4), "emergency = true")],
    ["is at an inactive location", set("locations", numbered(2), "active = false")],
    ["has an inactive practitioner", set("practitioners", numbered(4), "active = false")],
  ])("that %s is not open", async (_, change) => {
    await client.query(change);
    expect(await findOfferableSlot(transaction, SLOT, NOW_MS)).toMatchObject({ isOpen: false });
  });

  test.each([
    ["the next day is full", full("2030-01-08", 4)],
    ["the day is full for another rule", full("2030-01-07", 5)],
    ["the practitioner is busy until its start", move(APPOINTMENT, "08:00", "08:20")],
  ])("is open if %s", async (_, change) => {
    await client.query(change);
    expect(await findOfferableSlot(transaction, SLOT, NOW_MS)).toMatchObject({ isOpen: true });
  });

  test.each([
    ["is retained", set("slots", SLOT, `appointment_id = '${APPOINTMENT}', retained = true, retained_by = 'RULES'`)],
    ["has no rule", set("slots", SLOT, `appointment_id = '${APPOINTMENT}', rule_id = NULL`)],
  ])("that %s is not found", async (_, change) => {
    await client.query(change);
    expect(await findOfferableSlot(transaction, SLOT, NOW_MS)).toBeUndefined();
  });

  test.each<[string, boolean]>([
    ["2030-01-08", true],
    ["2030-01-07", false],
  ])("is up to date if its program is outdated from %s: %s", async (outdatedFrom, isUpToDate) => {
    await client.query(set("programs", numbered(4), `outdated_from = '${outdatedFrom}'`));
    expect(await findOfferableSlot(transaction, SLOT, NOW_MS)).toMatchObject({ isOpen: true, isUpToDate });
  });

  test.each<[string, boolean, string]>([
    ["overlaps its end", true, hold(4, "08:39", "08:59")],
    ["overlaps its start", true, hold(4, "08:00", "08:21")],
    ["ends at its start", false, hold(4, "08:00", "08:20")],
    ["begins at its end", false, hold(4, "08:40", "09:00")],
    ["is another practitioner's", false, hold(5, "08:20", "08:40")],
    ["has ended", false, `${hold(4, "08:20", "08:40")}; UPDATE appointment_holds SET ended_at = now()`],
    ["expires now", false, `${hold(4, "08:20", "08:40")}; UPDATE appointment_holds SET expires_at = '${FIRST_START}'`],
    ["uses the last unit of its day", true, held("2030-01-07", 4)],
    ["used the last unit until now", false, held("2030-01-07", 4, NOW_MS)],
    ["uses the last unit of another day", false, held("2030-01-08", 4)],
    ["uses the last unit of another rule", false, held("2030-01-07", 5)],
  ])("with a hold that %s is held until the hold expires: %s", async (_, isHeld, change) => {
    await client.query(change);
    const slot = await findOfferableSlot(transaction, SLOT, NOW_MS);
    expect(slot?.heldUntil).toEqual(isHeld ? EXPIRY : undefined);
  });
});

describe("the waitlist entries that a freed slot suits", () => {
  test.each<[string, boolean, string]>([
    ["any location and practitioner", true, ""],
    ["its location", true, set("waitlist_entries", numbered(1), `location_id = '${numbered(2)}'`)],
    ["another location", false, set("waitlist_entries", numbered(1), `location_id = '${numbered(3)}'`)],
    ["its practitioner", true, set("waitlist_entries", numbered(1), `practitioner_id = '${numbered(4)}'`)],
    ["another practitioner", false, set("waitlist_entries", numbered(1), `practitioner_id = '${numbered(5)}'`)],
    ["another service", false, set("waitlist_entries", numbered(1), `service_id = '${numbered(2)}'`)],
    ["an inactive service", false, set("healthcare_services", numbered(1), "active = false")],
    ["another period", false, set("waitlist_entries", numbered(1), "preferred_periods = '{NIGHT}'")],
    ["earlier dates", false, set("waitlist_entries", numbered(1), "date_from = '2030-01-06', date_to = '2030-01-06'")],
    ["later dates", false, set("waitlist_entries", numbered(1), "date_from = '2030-01-08', date_to = '2030-01-08'")],
  ])("wish for %s: %s", async (_, suits, change) => {
    await client.query(`${wish(1, 5)}; ${change}`);
    expect(await waiting()).toEqual(suits ? [numbered(1)] : []);
  });

  test.each<[string, boolean, string]>([
    ["inactive", false, set("patients", numbered(5), "status = 'INACTIVE'")],
    ["busy at the time", false, `${move(APPOINTMENT, "08:39", "08:59")}; ${ofPatient}`],
    ["busy until the time", true, `${move(APPOINTMENT, "08:00", "08:20")}; ${ofPatient}`],
    [
      "without an open entry",
      false,
      set("waitlist_entries", numbered(1), "closed_at = now(), closed_by = '', close_reason = ''"),
    ],
    ["offered the slot before", false, set("freed_slots", SLOT, `offered_to = '{${numbered(1)}}'`, "slot_id")],
    ["a holder of another slot", true, hold(6, "12:00", "12:20", 5)],
    ["a holder of two slots", false, `${hold(6, "12:00", "12:20", 5)}; ${hold(6, "12:20", "12:40", 5)}`],
    [
      "a holder of one slot, whose other hold expires now",
      true,
      `${hold(6, "12:20", "12:40", 5)}; UPDATE appointment_holds SET expires_at = '${FIRST_START}'; ${hold(6, "12:00", "12:20", 5)}`,
    ],
    [
      "a holder of one slot, whose other hold has ended",
      true,
      `${hold(6, "12:20", "12:40", 5)}; UPDATE appointment_holds SET ended_at = now(); ${hold(6, "12:00", "12:20", 5)}`,
    ],
    ["one of two who hold a slot", true, `${hold(6, "12:00", "12:20", 5)}; ${hold(7, "12:20", "12:40", 6)}`],
  ])("have a patient who is %s: %s", async (_, suits, change) => {
    await client.query(`${wish(1, 5)}; ${change}`);
    expect(await waiting()).toEqual(suits ? [numbered(1)] : []);
  });
});

test("an offer has the generation of its slot, and other holds are no offers", async () => {
  await client.query(`${wish(1, 5)}; ${hold(4, "08:20", "08:40")}; ${hold(5, "08:20", "08:40")};
    UPDATE appointment_holds SET slot_id = '${SLOT}', program_id = '${numbered(4)}';
    ${set("slots", SLOT, "generation = 7")}; ${set("programs", numbered(4), "emergency = true")};
    ${set("appointment_holds", numbered(4), `waitlist_entry_id = '${numbered(1)}'`)}`);
  expect(await findOfferedSlot(transaction, numbered(4))).toEqual({ generation: 7, emergency: true });
  expect(await findOfferedSlot(transaction, numbered(5))).toBeUndefined();
});

describe("an option of", () => {
  const jti = randomUUID();
  const claims = { visitMinutes: undefined, generation: 1, locationId: numbered(2), emergency: false };
  const principal = { organizationId: undefined, companyId: undefined };
  const wanted: Parameters<typeof findFreeOption>[3] = {
    serviceId: numbered(1),
    isBound: true,
    by: { patientId: numbered(5) },
    nowMs: NOW_MS,
  };
  const find = async (minutes: number, changes: Partial<typeof wanted> = {}) => {
    const option = { ...claims, jti, slotId: SLOT, minutes };
    return (await findFreeOption(transaction, principal, [option], { ...wanted, ...changes }))?.slotId;
  };

  test.each([20, 40, 60])("%i minutes is free", async (minutes) => {
    expect(await find(minutes)).toBe(SLOT);
  });

  test.each<[number, string, string]>([
    ...closing.map(([name, change]) => [20, name, change] as [number, string, string]),
    [
      20,
      "is retained",
      set("slots", SLOT, `appointment_id = '${APPOINTMENT}', retained = true, retained_by = 'RULES'`),
    ],
    [20, "has another generation", set("slots", SLOT, "generation = 2")],
    [40, "has a later slot of another generation", set("slots", NEXT, "generation = 2")],
    [40, "has an occupied second slot", set("slots", NEXT, `appointment_id = '${APPOINTMENT}'`)],
    [60, "has a gap", `DELETE FROM slots WHERE id = '${NEXT}'`],
    [60, "is too short", `DELETE FROM slots WHERE id = '${AFTER_NEXT}'`],
    [40, "has a second slot of another rule", set("slots", NEXT, `rule_id = '${numbered(5)}'`)],
    [
      20,
      "has a used token",
      `INSERT INTO consumed_option_tokens (tenant_id, jti, expires_at) VALUES ('${tenantId}', '${jti}', now())`,
    ],
    [
      20,
      "has a busy patient",
      `${set("appointments", APPOINTMENT, `practitioner_id = '${numbered(2)}'`)}; ${move(APPOINTMENT, "08:39", "08:59")}; ${ofPatient}`,
    ],
    [
      40,
      "has a patient who is busy later",
      `${set("appointments", APPOINTMENT, `practitioner_id = '${numbered(2)}'`)}; ${move(APPOINTMENT, "08:59", "09:19")}; ${ofPatient}`,
    ],
  ])("%i minutes that %s is not free", async (minutes, _, change) => {
    await client.query(change);
    expect(await find(minutes)).toBeUndefined();
  });

  test.each<[string, string]>([
    [
      "another used token",
      `INSERT INTO consumed_option_tokens (tenant_id, jti, expires_at) VALUES ('${tenantId}', gen_random_uuid(), now())`,
    ],
    ["another full day", full("2030-01-08", 4)],
    ["an occupied slot after it", set("slots", AFTER_NEXT, `appointment_id = '${APPOINTMENT}'`)],
    ["a busy practitioner after it", move(APPOINTMENT, "09:00", "09:20")],
  ])("40 minutes is free in spite of %s", async (_, change) => {
    await client.query(change);
    expect(await find(40)).toBe(SLOT);
  });

  test.each<[string, string]>([
    ["is in an inactive program", set("programs", numbered(4), "active = false")],
    ["is in a program of an organization", set("programs", numbered(4), "organization_id = gen_random_uuid()")],
    ["is in an emergency program", set("programs", numbered(4), "emergency = true")],
    ["is at another location", set("programs", numbered(4), `location_id = '${numbered(3)}'`)],
    ["is at an inactive location", set("locations", numbered(2), "active = false")],
    ["has an inactive practitioner", set("practitioners", numbered(4), "active = false")],
    ["is for an inactive service", set("healthcare_services", numbered(1), "active = false")],
    ["is for a service of other programs", `DELETE FROM program_services WHERE program_id = '${numbered(4)}'`],
    ["is not up to date", set("programs", numbered(4), "outdated_from = '2030-01-07'")],
    ["begins within the minimum notice", set("programs", numbered(4), "minimum_notice_minutes = 81")],
  ])("20 minutes that %s cannot be booked, and is not free", async (_, change) => {
    await client.query(change);
    expect(await find(20)).toBeUndefined();
  });

  test("20 minutes is free from the horizon to the minimum notice", async () => {
    await client.query(set("programs", numbered(4), "minimum_notice_minutes = 80, horizon_days = 1"));
    expect(await find(20)).toBe(SLOT);
    expect(await find(20, { nowMs: NOW_MS + 1 })).toBeUndefined();
    const opensMs = Date.parse("2030-01-06T00:00:00-05:00");
    expect(await find(20, { nowMs: opensMs })).toBe(SLOT);
    expect(await find(20, { nowMs: opensMs - 1 })).toBeUndefined();
  });

  test("20 minutes is free until it begins", async () => {
    expect(await find(20, { nowMs: START_MS - 1 })).toBe(SLOT);
    expect(await find(20, { nowMs: START_MS })).toBeUndefined();
  });

  test("an appointment to move is free on its own full day and at its own time, and on no other", async () => {
    const by = { appointmentId: APPOINTMENT };
    await client.query(`${full("2030-01-07", 4)}; ${move(APPOINTMENT, "08:40", "09:00")}`);
    expect(await find(40, { by })).toBe(SLOT);
    await client.query(set("appointments", APPOINTMENT, `rule_id = '${numbered(5)}'`));
    expect(await find(40, { by })).toBeUndefined();
    await client.query(set("appointments", APPOINTMENT, `rule_id = '${numbered(4)}', local_date = '2030-01-08'`));
    expect(await find(40, { by })).toBeUndefined();
  });

  test("several is the first free one", async () => {
    const option = (slotId: string) => ({ ...claims, jti: randomUUID(), slotId, minutes: 20 });
    const options = [AFTER_NEXT, SLOT, NEXT].map(option);
    const first = () => findFreeOption(transaction, principal, options, wanted);
    expect(await first()).toBe(options[0]);
    await client.query(set("slots", AFTER_NEXT, `appointment_id = '${APPOINTMENT}'`));
    expect(await first()).toBe(options[1]);
  });

  test("the same slot in several tokens is the first of them that is free", async () => {
    const option = (minutes: number, generation: number) => ({ ...claims, jti, slotId: SLOT, minutes, generation });
    const options = [option(20, 7), option(40, 1), option(20, 1)];
    expect(await findFreeOption(transaction, principal, options, wanted)).toBe(options[1]);
    await client.query(set("slots", NEXT, `appointment_id = '${APPOINTMENT}'`));
    expect(await findFreeOption(transaction, principal, options, wanted)).toBe(options[2]);
  });
});

async function waiting(): Promise<string[]> {
  const terms = { nowMs: NOW_MS, period: "MORNING", maxHolds: 2 };
  return (await findWaitingEntries(transaction, SLOT, terms)).map(({ id }) => id);
}

function at(time: string): string {
  return `timestamptz '2030-01-07T${time}:00-05:00'`;
}

function set(table: string, id: string, change: string, key = "id"): string {
  return `UPDATE ${table} SET ${change} WHERE ${key} = '${id}'`;
}

function move(appointmentId: string, from: string, to: string): string {
  return set("appointments", appointmentId, `starts_at = ${at(from)}, ends_at = ${at(to)}`);
}

function full(date: string, rule: number): string {
  return `UPDATE day_counters SET booked = 10000 WHERE local_date = '${date}' AND rule_id = '${numbered(rule)}'`;
}

/** Returns SQL for a hold that uses the last unit of a day. */
function held(date: string, rule: number, untilMs = EXPIRY.getTime()): string {
  return `UPDATE day_counters SET booked = 9999, held = '{${new Date(untilMs).toISOString()}}'
    WHERE local_date = '${date}' AND rule_id = '${numbered(rule)}'`;
}

function hold(practitioner: number, from: string, to: string, patient = 9): string {
  return `INSERT INTO appointment_holds (tenant_id, id, patient_id, service_id, program_id, rule_id, practitioner_id,
      location_id, slot_id, local_date, starts_at, ends_at, uses_unit, principal, expires_at, created_at)
    SELECT '${tenantId}', CASE WHEN EXISTS (SELECT FROM appointment_holds WHERE id = of) THEN gen_random_uuid() ELSE of END,
      '${numbered(patient)}', of, of, of, of, of, of, '2030-01-07', ${at(from)}, ${at(to)}, false, 'issuer client',
      '${EXPIRY.toISOString()}', now() FROM (SELECT '${numbered(practitioner)}'::uuid AS of) AS practitioner`;
}

/** Returns SQL for a waitlist entry of the first service on the day of the slot, in the morning. */
function wish(id: number, patient: number): string {
  return `INSERT INTO waitlist_entries (tenant_id, id, patient_id, service_id, date_from, date_to, preferred_periods, status,
      created_at)
    VALUES ('${tenantId}', '${numbered(id)}', '${numbered(patient)}', '${numbered(1)}', '2030-01-07', '2030-01-07',
      '{AFTERNOON,MORNING}', 'ACTIVE', now())`;
}

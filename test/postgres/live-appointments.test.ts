import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Appointment_Status } from "../../src/gen/cupo/access/v1/appointment_pb.js";
import {
  type AppointmentStatus,
  isLive,
  liveStatuses,
} from "../../src/postgres/tables/appointments/appointment-status.js";
import { isBusy, overlapsOf } from "../../src/postgres/tables/appointments/busy-times.js";
import { verifyInvariants } from "../../src/postgres/tables/operations/invariants.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const EXCLUSIONS = ["appointments_patient_excl", "appointments_practitioner_excl"];
const NOW_MS = Date.parse("2030-01-01T00:00:00Z");
const EXCLUSION_OF_HOLDS = "appointment_holds_practitioner_excl";
const EXCLUSION_VIOLATION = "23P01";

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.ownerUrl);
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

const statuses = Object.values(Appointment_Status).filter(
  (name): name is AppointmentStatus => typeof name === "string" && name !== "STATUS_UNSPECIFIED",
);

test("the table accepts exactly the statuses of the contract", async () => {
  const { rows } = await client.query(
    "SELECT with_check FROM pg_policies WHERE tablename = 'appointments' AND policyname = 'tenant'",
  );
  expect(namesIn(rows[0].with_check).toSorted()).toEqual(statuses.toSorted());
});

test("the exclusion constraints apply to exactly the live statuses", async () => {
  const named = await definitionsOf(`c.conname = ANY('{${EXCLUSIONS.join()}}')`);
  expect(named).toEqual([liveStatuses, liveStatuses]);
});

test.each([
  `status IN (${liveStatuses.map((status) => `'${status}'`).join()})`,
  "status = 'PENDING'",
  `tenant_id = '${tenantId}' AND patient_id = '${numbered(1)}' AND status IN ('PENDING', 'CONFIRMED')`,
  `tenant_id = '${tenantId}' AND practitioner_id = '${numbered(1)}' AND status = 'PENDING' AND NOT overbooked`,
])("no query is planned with the index of an exclusion constraint: %s", async (condition) => {
  expect(await indexesOf("am.amname = 'gist'")).toEqual([EXCLUSION_OF_HOLDS, ...EXCLUSIONS]);
  await client.query("ALTER TABLE appointments DROP CONSTRAINT appointments_pkey CASCADE");
  for (const index of await indexesOf("am.amname <> 'gist' AND NOT i.indisprimary AND t.relname = 'appointments'"))
    await client.query(`DROP INDEX ${index}`);
  await client.query("SET LOCAL enable_seqscan = off");
  const { rows } = await client.query(`EXPLAIN SELECT FROM appointments WHERE ${condition}`);
  expect(JSON.stringify(rows)).toContain("Seq Scan on appointments");
});

/** Periods next to an appointment from 10:00 to 10:20, and whether they overlap it. */
const times: readonly (readonly [string, string, boolean])[] = [
  ["09:40", "10:00", false],
  ["09:40", "10:01", true],
  ["10:00", "10:20", true],
  ["10:05", "10:10", true],
  ["09:00", "11:00", true],
  ["10:19", "10:40", true],
  ["10:20", "10:40", false],
];

describe.each(statuses)("next to an appointment with status %s", (status) => {
  test.each(times)("a period from %s to %s is judged alike by booking, constraints and invariants", async (...time) => {
    const [from, to, overlaps] = time;
    const isTaken = overlaps && isLive(status);
    const [patientId, practitionerId] = [numbered(1), numbered(1)];
    const id = await insert({ patientId, practitionerId, status, from: "10:00", to: "10:20" });
    const slot = { startsAt: instant(from), endsAt: instant(to) };
    for (const who of [{ patientId }, { practitionerId }]) {
      expect(await isBusy(transaction, who, slot, undefined, NOW_MS)).toBe(isTaken);
      expect(await isBusy(transaction, who, slot, id, NOW_MS)).toBe(false);
    }
    const other = { patientId: numbered(2), practitionerId: numbered(2), status: "PENDING", from, to } as const;
    expect(await isRefused({ ...other, patientId })).toBe(isTaken);
    expect(await isRefused({ ...other, practitionerId })).toBe(isTaken);
    for (const name of EXCLUSIONS) await client.query(`ALTER TABLE appointments DROP CONSTRAINT ${name}`);
    await insert({ ...other, patientId, practitionerId });
    const found = (await verifyInvariants(transaction, NOW_MS)).findings.map(({ name }) => name);
    expect(found.filter((name) => name.endsWith("_OVERLAP"))).toEqual(
      isTaken ? ["PATIENT_OVERLAP", "PRACTITIONER_OVERLAP"] : [],
    );
  });
});

test.each(times)("the live appointments of two patients overlap as a period from %s to %s does", async (...time) => {
  const [from, to, overlaps] = time;
  const live = { status: "PENDING", from: "10:00", to: "10:20" } as const;
  const [patient, other] = [numbered(1), numbered(2)] as const;
  const one = await insert({ ...live, patientId: patient, practitionerId: numbered(1) });
  const another = await insert({ ...live, from, to, patientId: other, practitionerId: numbered(2) });
  await insert({ ...live, status: "CANCELLED", patientId: other, practitionerId: numbered(3) });
  await insert({ ...live, status: "NO_SHOW", from, to, patientId: patient, practitionerId: numbered(3) });
  await insert({ ...live, patientId: numbered(3), practitionerId: numbered(4) });
  expect(await overlapsOf(transaction, [patient, other], 10)).toEqual(overlaps ? [{ one, other: another }] : []);
});

test("an overbooked appointment may overlap others of its practitioner, but none of its patient", async () => {
  const people = { patientId: numbered(1), practitionerId: numbered(1) };
  const time = { status: "PENDING", from: "10:00", to: "10:20" } as const;
  await insert({ ...people, ...time });
  const beside = { ...people, patientId: numbered(2), ...time };
  expect(await isRefused(beside)).toBe(true);
  expect(await isRefused({ ...beside, isOverbooked: true })).toBe(false);
  expect(await isRefused({ ...people, practitionerId: numbered(2), ...time, isOverbooked: true })).toBe(true);
  await insert({ ...beside, isOverbooked: true });
  expect(await isRefused({ ...beside, patientId: numbered(3) })).toBe(true);
  const { findings, overbooked } = await verifyInvariants(transaction, NOW_MS);
  expect(findings.map(({ name }) => name).filter((name) => name.endsWith("_OVERLAP"))).toEqual([]);
  expect(overbooked).toBe(1);
});

interface Inserted {
  readonly patientId: string;
  readonly practitionerId: string;
  readonly status: AppointmentStatus;
  readonly from: string;
  readonly to: string;
  readonly isOverbooked?: boolean;
}

async function insert({
  patientId,
  practitionerId,
  status,
  from,
  to,
  isOverbooked = false,
}: Inserted): Promise<string> {
  const id = randomUUID();
  const place = isOverbooked ? [null, true, "Viene de lejos."] : [numbered(1), false, null];
  const people = [patientId, practitionerId];
  await client.query(
    `INSERT INTO appointments (tenant_id, id, patient_id, practitioner_id, status, starts_at, ends_at, service_id, program_id,
       location_id, request_source_id, appointment_type_id, local_date, version, created_at, updated_at, rule_id, overbooked,
       overbooking_reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $8, $8, $8, '2030-01-08', 1, now(), now(), $9, $10, $11)`,
    [tenantId, id, ...people, status, instant(from), instant(to), numbered(1), ...place],
  );
  return id;
}

/** Whether a constraint rejects an appointment. Undoes the insert in either case. */
async function isRefused(appointment: Inserted): Promise<boolean> {
  await client.query("SAVEPOINT attempt");
  try {
    await insert(appointment);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: EXCLUSION_VIOLATION });
    return true;
  } finally {
    await client.query("ROLLBACK TO attempt");
  }
}

/** Returns the names of the matching indexes of the service's tables, sorted. */
async function indexesOf(condition: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
       JOIN pg_am am ON am.oid = c.relam
     WHERE c.relnamespace = current_schema()::regnamespace AND ${condition} ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Returns the string literals in the matching constraints of appointments. */
async function definitionsOf(condition: string): Promise<string[][]> {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT pg_get_constraintdef(c.oid) AS definition FROM pg_constraint c
     WHERE c.conrelid = 'appointments'::regclass AND ${condition} ORDER BY c.conname`,
  );
  return rows.map(({ definition }) => namesIn(definition));
}

function namesIn(definition: string): string[] {
  return [...definition.matchAll(/'([A-Z_]+)'/g)].map(([, name = ""]) => name);
}

function instant(time: string): Date {
  return new Date(`2030-01-08T${time}:00-05:00`);
}

import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sql } from "../../src/postgres/sql.js";
import {
  everybodyOf,
  findBookedPractitioners,
  findProgramsOf,
} from "../../src/postgres/tables/appointments/booked-practitioners.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { appointmentRow } from "./appointment-rows.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
/** Appointments of the first program, unless another is named. The n-th one is of the n-th practitioner and patient. */
const APPOINTMENTS = [
  { time: "07:59" },
  { time: "08:00" },
  { time: "08:59", status: "ATTENDED" },
  { time: "09:00" },
  { time: "08:30", status: "CANCELLED" },
  { time: "08:30", status: "NO_SHOW" },
  { time: "08:30", program: 2 },
];

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
  for (const [index, { time, ...row }] of APPOINTMENTS.entries()) {
    const n = index + 1;
    await client.query(appointmentRow(tenantId, n, { patient: n, practitioner: n, startsAt: at(time), ...row }));
  }
  for (const [program, practitioner] of [
    [1, 8],
    [3, 2],
    [4, 9],
  ] as const) {
    await client.query(`INSERT INTO program_practitioners (tenant_id, program_id, practitioner_id, position)
      VALUES ('${tenantId}', '${numbered(program)}', '${numbered(practitioner)}', 0)`);
  }
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const time = { from: new Date(at("08:00")), to: new Date(at("09:00")) };

test("the booked practitioners of a program have live appointments in it that start in the time", async () => {
  const booked = await findBookedPractitioners(transaction, numbered(1), time);
  expect(booked.toSorted()).toEqual([2, 3].map(numbered));
});

test("everybody of a program are its practitioners, the booked ones, and the given others", async () => {
  const everybody = everybodyOf(transaction, numbered(1), time, [numbered(10)]);
  const [row] = await transaction.rows<{ ids: string[] }>(sql.raw("SELECT :everybody AS ids", { everybody }));
  expect(row?.ids.toSorted()).toEqual([2, 3, 8, 10].map(numbered));
});

describe("the programs of a practitioner are those in which the practitioner works or has later appointments:", () => {
  test.each([
    [1, []],
    [2, [1, 3]],
    [4, [1]],
    [5, []],
    [7, [2]],
    [9, [4]],
  ])("of practitioner %i: %j", async (practitioner, programs) => {
    expect(await findProgramsOf(transaction, numbered(practitioner), time.from)).toEqual(programs.map(numbered));
  });
});

function at(clock: string): string {
  return `2030-01-08T${clock}:00-05:00`;
}

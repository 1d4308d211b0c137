import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import { type Clinic, day, openClinic } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  begin,
  bookOn,
  HOUR_MS,
  holdRow,
  newPatient,
  newTenant,
  runJob,
  timeEvents,
  WAITING,
  waitingForLock,
} from "./time-events-under-test.js";

const DAY_MS = 24 * HOUR_MS;
const REMINDER = "appointment.reminder_due";
const NO_SHOW = "appointment.no_show_due";

let service: TestService;
let database: Database;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

beforeEach(async () => {
  service.stopAt(service.now() + DAY_MS);
  clinic = await openClinic(service, { as: newTenant() });
  await begin(clinic, database);
});

describe("each event is written once", () => {
  test("by two workers at the same time", async () => {
    const other = openServiceDatabase(service.databaseUrl);
    onTestFinished(() => other.close());
    const patients = await Promise.all(Array.from({ length: 6 }, () => newPatient(clinic)));
    const starts: number[] = [];
    for (const patientId of patients) {
      const { startsAt } = await bookOn(clinic, patientId, day(clinic, 3));
      starts.push(Date.parse(startsAt));
    }
    service.stopAt(Math.max(...starts) - DAY_MS);
    const written = await Promise.all([database, other, database, other].map((each) => runJob(each, service)));
    const events = await timeEvents(clinic);
    expect(written.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(events.length);
    expect(events).toHaveLength(patients.length);
    expect(new Set(events.map(([, id]) => id)).size).toBe(patients.length);
  });

  test("although the process dies after it wrote some, before it commits", async () => {
    const { appointmentId, startsAt } = await bookOn(clinic, await newPatient(clinic), day(clinic, 3));
    service.stopAt(Date.parse(startsAt) - 24 * HOUR_MS);
    const holder = await holdRow(clinic, "appointments", appointmentId);
    const dying = expect(runJob(database, service)).rejects.toThrow();
    await waitingForLock(service);
    await service.query(`SELECT pg_terminate_backend(pid) ${WAITING}`);
    await dying;
    await holder.query("ROLLBACK");
    expect(await timeEvents(clinic)).toEqual([]);
    await runJob(database, service);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([[REMINDER, appointmentId, 1]]);
  });

  test("up to 24 hours late, and not after that", async () => {
    const skipped = await bookOn(clinic, await newPatient(clinic), day(clinic, 3));
    const late = await bookOn(clinic, await newPatient(clinic), day(clinic, 4));
    service.stopAt(Date.parse(late.startsAt) - HOUR_MS);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([
      [REMINDER, late.appointmentId, 1],
      [NO_SHOW, skipped.appointmentId, 1],
    ]);
  });

  test("after releases that do not know these events have stopped", async () => {
    const { appointmentId, startsAt } = await bookOn(clinic, await newPatient(clinic), day(clinic, 3));
    service.stopAt(Date.parse(startsAt) - 24 * HOUR_MS);
    const older = new Client({
      connectionString: service.databaseUrl,
      application_name: "cupo-jobs 0034-partitions-on-citus",
    });
    await older.connect();
    onTestFinished(() => older.end());
    expect(await runJob(database, service)).toBe(0);
    expect(await timeEvents(clinic)).toEqual([]);
    await older.end();
    await eventually(async () => (await runJob(database, service)) > 0);
    expect(await timeEvents(clinic)).toEqual([[REMINDER, appointmentId, 1]]);
  });
});

test("the audit trail names the service and one correlation id for each run", async () => {
  for (const skip of [0, 1]) await bookOn(clinic, await newPatient(clinic), day(clinic, 3), skip);
  service.advance(3 * DAY_MS - HOUR_MS);
  await runJob(database, service);
  const rows = await service.query(
    `SELECT operation, principal, correlation_id, action, resource_version FROM audit_events
     WHERE tenant_id = '${clinic.as.tenantId}' AND action = 'REMINDER_DUE'`,
  );
  expect(rows).toHaveLength(2);
  const [first] = rows;
  expect(rows).toEqual([first, first]);
  expect(first).toMatchObject({ operation: "write_time_events", principal: "cupo", resource_version: 1 });
});

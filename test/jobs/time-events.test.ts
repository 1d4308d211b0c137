import type { JsonObject } from "@bufbuild/protobuf";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { deskFixtures } from "../operations-clinic/desk-fixtures.js";
import { erasureOf, mergeOf, REASON } from "../operations-clinic/erasure-requests.js";
import { type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import type { PatientBody } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  begin,
  bookOn,
  cancel,
  HOUR_MS,
  MINUTE_MS,
  moveTo,
  newTenant,
  runJob,
  timeEvents,
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

describe("a reminder", () => {
  test("is due two days and one day before the start, and a possible no-show 15 minutes after it", async () => {
    const { appointmentId: id, startsAt } = await bookOn(clinic, await patient(), day(clinic, 4));
    const startMs = Date.parse(startsAt);
    for (const [dueMs, count] of [
      [startMs - 48 * HOUR_MS, 1],
      [startMs - 24 * HOUR_MS, 2],
      [startMs + 15 * MINUTE_MS, 3],
    ] as const) {
      service.stopAt(dueMs - 1);
      await runJob(database, service);
      expect(await timeEvents(clinic)).toHaveLength(count - 1);
      service.stopAt(dueMs);
      await runJob(database, service);
      await runJob(database, service);
      expect(await timeEvents(clinic)).toHaveLength(count);
    }
    expect(await timeEvents(clinic)).toEqual([
      [REMINDER, id, 1],
      [REMINDER, id, 1],
      [NO_SHOW, id, 1],
    ]);
  });

  test("is due at the offsets of the tenant; none with an empty list", async () => {
    await setOffsets([90, 15], 1);
    const { startsAt } = await bookOn(clinic, await patient(), day(clinic, 4));
    service.stopAt(Date.parse(startsAt) - 90 * MINUTE_MS);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toHaveLength(1);
    await setOffsets([], 2);
    service.stopAt(Date.parse(startsAt));
    await runJob(database, service);
    expect(await timeEvents(clinic)).toHaveLength(1);
  });

  test("is not due for an appointment booked after the offset, before or after the run that passed it", async () => {
    const other = await bookOn(clinic, await patient(), day(clinic, 2), 1);
    service.stopAt(Date.parse(other.startsAt) - 24 * HOUR_MS + 1);
    const late = await bookOn(clinic, await patient(), day(clinic, 1));
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([[REMINDER, other.appointmentId, 1]]);
    service.stopAt(Date.parse(late.startsAt));
    await runJob(database, service);
    expect(await timeEvents(clinic)).toHaveLength(1);
  });

  test("is due again for an appointment that is moved to later, and not for one that is cancelled", async () => {
    const moved = await bookOn(clinic, await patient(), day(clinic, 3));
    const cancelled = await bookOn(clinic, await patient(), day(clinic, 3), 1);
    service.stopAt(Date.parse(cancelled.startsAt) - 48 * HOUR_MS);
    await runJob(database, service);
    const startMs = await moveTo(clinic, moved, day(clinic, 6));
    await cancel(clinic, cancelled);
    service.stopAt(startMs - 48 * HOUR_MS);
    await runJob(database, service);
    const { appointmentId: id } = moved;
    expect((await timeEvents(clinic)).filter(([, resourceId]) => resourceId === id)).toEqual([
      [REMINDER, id, 1],
      [REMINDER, id, 2],
    ]);
    expect(await timeEvents(clinic)).toHaveLength(3);
  });

  test("is due for the appointment of a merged patient, and for none of an erased one", async () => {
    const [survivor, duplicate, erased] = [await patient(), await patient(), await patient()];
    const kept = await bookOn(clinic, duplicate, day(clinic, 3));
    const gone = await bookOn(clinic, erased, day(clinic, 3));
    await cancel(clinic, gone);
    await mustCall(clinic, "MergePatients", { ...mergeOf(atVersion1(survivor), duplicate), reason: REASON });
    await mustCall(clinic, "ErasePatient", erasureOf(atVersion1(erased)));
    service.stopAt(Date.parse(kept.startsAt) - 24 * HOUR_MS);
    await runJob(database, service);
    expect(new Set((await timeEvents(clinic)).map(([, id]) => id))).toEqual(new Set([kept.appointmentId]));
  });
});

describe("an expired waitlist entry", () => {
  test("is reported at the local midnight after its last date, if it is open", async () => {
    const desk = deskFixtures(service, clinic.as);
    const dates = { dateFrom: day(clinic, 0), dateTo: day(clinic, 0), serviceId: clinic.serviceId };
    const [open, closed] = [await desk.entry(dates), await desk.entry(dates)];
    await desk.entry({ ...dates, dateTo: day(clinic, 1) });
    await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId: closed, expectedVersion: 1, reason: "Atendida" });
    const midnightMs = Date.parse(`${day(clinic, 1)}T00:00:00-05:00`);
    service.stopAt(midnightMs - 1);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([]);
    service.stopAt(midnightMs);
    await runJob(database, service);
    service.advance(HOUR_MS);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([["waitlist_entry.expired", open, 1]]);
  });
});

describe("each event is written once", () => {
  test("by two workers at the same time", async () => {
    const other = openServiceDatabase(service.databaseUrl);
    onTestFinished(() => other.close());
    const patients = await Promise.all(Array.from({ length: 6 }, patient));
    for (const patientId of patients) await bookOn(clinic, patientId, day(clinic, 3));
    service.advance(3 * DAY_MS - HOUR_MS);
    const written = await Promise.all([database, other, database, other].map((each) => runJob(each, service)));
    const events = await timeEvents(clinic);
    expect(written.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(events.length);
    expect(events).toHaveLength(patients.length);
    expect(new Set(events.map(([, id]) => id)).size).toBe(patients.length);
  });

  test("although the process dies after it wrote some, before it commits", async () => {
    const { appointmentId, startsAt } = await bookOn(clinic, await patient(), day(clinic, 3));
    service.stopAt(Date.parse(startsAt) - 24 * HOUR_MS);
    const holder = await holdAppointment(appointmentId);
    const dying = expect(runJob(database, service)).rejects.toThrow();
    const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await eventually(async () => (await service.query(`SELECT 1 ${waiting}`)).length > 0);
    await service.query(`SELECT pg_terminate_backend(pid) ${waiting}`);
    await dying;
    await holder.query("ROLLBACK");
    expect(await timeEvents(clinic)).toEqual([]);
    await runJob(database, service);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([[REMINDER, appointmentId, 1]]);
  });

  test("up to 24 hours late, and not after that", async () => {
    const skipped = await bookOn(clinic, await patient(), day(clinic, 3));
    const late = await bookOn(clinic, await patient(), day(clinic, 4));
    service.stopAt(Date.parse(late.startsAt) - HOUR_MS);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([
      [REMINDER, late.appointmentId, 1],
      [NO_SHOW, skipped.appointmentId, 1],
    ]);
  });

  test("after releases that do not know these events have stopped", async () => {
    const { appointmentId, startsAt } = await bookOn(clinic, await patient(), day(clinic, 3));
    service.stopAt(Date.parse(startsAt) - 24 * HOUR_MS);
    const older = new Client({
      connectionString: service.databaseUrl,
      application_name: "cupo-jobs 0034-partitions-on-citus",
    });
    await older.connect();
    expect(await runJob(database, service)).toBe(0);
    expect(await timeEvents(clinic)).toEqual([]);
    await older.end();
    await eventually(async () => (await runJob(database, service)) > 0);
    expect(await timeEvents(clinic)).toEqual([[REMINDER, appointmentId, 1]]);
  });
});

test("the audit trail names the service and one correlation id for each run", async () => {
  for (const skip of [0, 1]) await bookOn(clinic, await patient(), day(clinic, 3), skip);
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

async function patient(): Promise<string> {
  return (await fixtures.registerPatient(service, {}, clinic.as)).id;
}

function atVersion1(id: string): Pick<PatientBody, "id" | "version"> {
  return { id, version: 1 };
}

async function setOffsets(reminderOffsetMinutes: number[], expectedVersion: number): Promise<void> {
  const request: JsonObject = { reminderOffsetMinutes, expectedVersion, updateMask: "reminderOffsetMinutes" };
  await mustCall(clinic, "UpdateTenantSettings", request);
}

/** Locks an appointment as a call that changes it does. */
async function holdAppointment(id: string): Promise<Client> {
  const holder = new Client(service.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${clinic.as.tenantId}'`);
  await holder.query(`SELECT FROM appointments WHERE id = '${id}' FOR NO KEY UPDATE`);
  return holder;
}

import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import { deskFixtures } from "../operations-clinic/desk-fixtures.js";
import { erasureOf, mergeOf, REASON } from "../operations-clinic/erasure-requests.js";
import { type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import type { PatientBody } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  begin,
  bookOn,
  cancel,
  HOUR_MS,
  holdRow,
  MINUTE_MS,
  moveTo,
  newPatient,
  newTenant,
  runJob,
  timeEvents,
  waitingForLock,
} from "./time-events-under-test.js";

const DAY_MS = 24 * HOUR_MS;
/** The default of the job. */
const CALLS_END_MS = 30_000;
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

  test("is followed by a possible no-show after the minutes of the tenant", async () => {
    await mustCall(clinic, "UpdateTenantSettings", { ...NO_REMINDERS, noShowGraceMinutes: 45, expectedVersion: 1 });
    const { appointmentId, startsAt } = await bookOn(clinic, await patient(), day(clinic, 1));
    service.stopAt(Date.parse(startsAt) + 45 * MINUTE_MS - 1);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([]);
    service.stopAt(Date.parse(startsAt) + 45 * MINUTE_MS);
    await runJob(database, service);
    expect(await timeEvents(clinic)).toEqual([[NO_SHOW, appointmentId, 1]]);
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

  test("is due for an appointment whose call ends after a run, up to 30 seconds after it began", async () => {
    const patientId = await patient();
    const date = day(clinic, 4);
    const [option] = await optionsFor(clinic, { patientId, dateFrom: date, dateTo: date });
    const dueMs = Date.parse(String(option?.startsAt)) - 48 * HOUR_MS;
    service.stopAt(dueMs + CALLS_END_MS - 1);
    await runJob(database, service, { callsEndMs: CALLS_END_MS });
    service.stopAt(dueMs - 1);
    const late = await bookOn(clinic, patientId, date);
    service.stopAt(dueMs + CALLS_END_MS);
    await runJob(database, service, { callsEndMs: CALLS_END_MS });
    expect(await timeEvents(clinic)).toEqual([[REMINDER, late.appointmentId, 1]]);
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

  test("is not due for an appointment that a call moves while the job waits for it", async () => {
    const { appointmentId, startsAt } = await bookOn(clinic, await patient(), day(clinic, 3));
    service.stopAt(Date.parse(startsAt) - 24 * HOUR_MS);
    const holder = await holdRow(clinic, "appointments", appointmentId);
    const running = runJob(database, service);
    await waitingForLock(service);
    const moved = "starts_at = starts_at + interval '1 hour', ends_at = ends_at + interval '1 hour'";
    await holder.query(`UPDATE appointments SET ${moved}, version = 2 WHERE id = '${appointmentId}'`);
    await holder.query("COMMIT");
    await running;
    expect(await timeEvents(clinic)).toEqual([]);
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

test("a run that is aborted throws the error of a tenant from before", async () => {
  const other = await openClinic(service, { as: newTenant() });
  await begin(other, database);
  const booked = [
    await bookOn(clinic, await patient(), day(clinic, 4)),
    await bookOn(other, await newPatient(other), day(other, 4)),
  ];
  service.stopAt(Math.max(...booked.map(({ startsAt }) => Date.parse(startsAt))) - 48 * HOUR_MS);
  const stop = new AbortController();
  const onCommitted = () => {
    stop.abort();
    throw new Error("not notified");
  };
  await expect(runJob(database, service, { onCommitted }, stop.signal)).rejects.toThrow("not notified");
  expect([...(await timeEvents(clinic)), ...(await timeEvents(other))]).toHaveLength(1);
});

const NO_REMINDERS: JsonObject = { reminderOffsetMinutes: [], updateMask: "reminderOffsetMinutes,noShowGraceMinutes" };

function patient(): Promise<string> {
  return newPatient(clinic);
}

function atVersion1(id: string): Pick<PatientBody, "id" | "version"> {
  return { id, version: 1 };
}

async function setOffsets(reminderOffsetMinutes: number[], expectedVersion: number): Promise<void> {
  const request: JsonObject = { reminderOffsetMinutes, expectedVersion, updateMask: "reminderOffsetMinutes" };
  await mustCall(clinic, "UpdateTenantSettings", request);
}

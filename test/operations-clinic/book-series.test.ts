import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, type Clinic, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { holdFirst, unitsOf } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { type Booked, bookedIn, seriesOf } from "./series-requests.js";
import { timedBooking } from "./timed-bookings.js";

const DESK = ["scheduling:read", "scheduling:write"];

let service: TestService;
/** As a supervisor, with every scope. */
let clinic: Clinic;
let desk: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  const as = { tenantId: randomUUID() };
  clinic = await openClinic(service, { as, rule: { dailyCapacity: 3 } });
  desk = { ...clinic, as: { ...as, scopes: DESK } };
  patientId = await fixtures.createPatient(service, {}, as);
});

afterAll(() => closeConsistent(service));

describe("BookSeries", () => {
  test("books every so many days at the same local time, with one unit of each day, and lists them as a series", async () => {
    const { seriesId, appointments } = await bookSeries({ intervalDays: 3, count: 4 });
    const starts = [2, 5, 8, 11].map((days) => `${day(clinic, days)}T13:00:00.000Z`);
    expect(appointments.map(({ startsAt }) => startsAt)).toEqual(starts);
    for (const each of appointments) expect(each).toMatchObject({ seriesId, version: 1, status: "PENDING" });
    expect(await unitsOf(clinic)).toMatchObject({ booked: 4 });
    const listed = await mustCall(clinic, "ListAppointments", { seriesId });
    expect(listed["appointments"]).toEqual(appointments);
    const { appointmentId } = appointments[2] as Booked;
    expect(await mustCall(clinic, "GetAppointment", { appointmentId })).toEqual({ appointment: appointments[2] });
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId });
    expect(changes).toHaveLength(1);
  });

  test("ends the wait with the first appointment, which is the first visit, and closes the waitlist entry", async () => {
    const waitlistEntryId = await entry({ patientId, serviceId: clinic.serviceId });
    const { appointments } = await bookSeries({ count: 3, waitlistEntryId, desiredOn: day(clinic, 1) });
    const seen = appointments.map(({ desiredOn, firstVisit, requestedOn }) => ({ desiredOn, firstVisit, requestedOn }));
    const requestedOn = day(clinic, 0);
    expect(seen).toEqual([
      { desiredOn: day(clinic, 1), firstVisit: true, requestedOn },
      { desiredOn: day(clinic, 3), firstVisit: false, requestedOn },
      { desiredOn: day(clinic, 4), firstVisit: false, requestedOn },
    ]);
    expect(appointments.map(({ dueOn }) => dueOn !== undefined)).toEqual([true, false, false]);
    const { waitlistEntry } = await mustCall(clinic, "GetWaitlistEntry", { waitlistEntryId });
    expect(waitlistEntry).toMatchObject({ appointmentId: appointments[0]?.appointmentId });
  });

  test("ends the wait with the first appointment, also after corrections of type and wait", async () => {
    const { appointments } = await bookSeries({ count: 3 });
    const appointmentTypeId = await fixtures.appointmentType.create(service, clinic.as);
    const hasDueDate = [];
    for (const { appointmentId } of appointments) {
      const change = { appointmentId, appointmentTypeId, expectedVersion: 1 };
      const changed = appointmentIn(await call(clinic, "ChangeAppointment", change));
      const correction = { appointmentId, requestedOn: day(clinic, -1), expectedVersion: 2, reason: "Llamó ayer." };
      const corrected = appointmentIn(await call(clinic, "CorrectAppointmentWait", correction));
      hasDueDate.push(["dueOn" in changed, "dueOn" in corrected]);
    }
    expect(hasDueDate).toEqual([true, false, false].map((has) => [has, has]));
  });

  test("names everything that stands in the way, and books nothing", async () => {
    const other = await openClinic(service, { as: clinic.as });
    await bookAt({}, 3);
    await mustCall(
      clinic,
      "BookAppointmentAt",
      await timedBooking({ ...other, service }, { patientId, startsAt: startOn(4) }),
    );
    for (const time of ["08:30", "09:00", "09:30"]) await bookAt({}, 5, time);
    await holdFirst(clinic, { dateFrom: day(clinic, 6), dateTo: day(clinic, 6) });
    await mustCall(clinic, "CreateScheduleBlock", {
      practitionerId: `${clinic.practitionerIds[0]}`,
      kind: "MEETING",
      startsAt: startOn(7),
      endsAt: startOn(7, "08:30"),
    });
    const units = await unitsOf(clinic);
    expectRefusal(await call(clinic, "BookSeries", await seriesOf(clinic, { patientId, count: 14 })), 409, [
      "occurrences[1] SLOT_OCCUPIED",
      "occurrences[2] PATIENT_OVERLAP",
      "occurrences[3] CAPACITY_EXHAUSTED",
      "occurrences[4] SLOT_OCCUPIED",
      "occurrences[5] NO_SLOT",
      "occurrences[13] NO_SLOT",
    ]);
    expect(await unitsOf(clinic)).toEqual(units);
  });

  test("needs adjacent slots for each appointment", async () => {
    const block = { practitionerId: `${clinic.practitionerIds[0]}`, kind: "MEETING" };
    await mustCall(clinic, "CreateScheduleBlock", {
      ...block,
      startsAt: startOn(3, "08:30"),
      endsAt: startOn(3, "09:00"),
    });
    const long = await seriesOf(clinic, { patientId, durationMinutes: 90 });
    expectRefusal(await call(clinic, "BookSeries", long), 409, ["occurrences[1] NO_SLOT"]);
  });

  test("counts the whole series for the limits of the tenant", async () => {
    const limits = { maxAppointmentsAhead: 3, maxAppointmentsPerServiceAndDay: 1 };
    await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 1, ...limits });
    await bookAt({ patientId }, 4, "11:00");
    const request = await seriesOf(clinic, { patientId, count: 4 });
    expectRefusal(await call(desk, "BookSeries", request), 409, [
      "occurrences[2] PATIENT_LIMIT",
      "occurrences[2] PATIENT_LIMIT",
      "occurrences[3] PATIENT_LIMIT",
    ]);
    expect((await call(clinic, "BookSeries", request)).status).toBe(200);
  });

  test("needs an active patient and an open waitlist entry", async () => {
    const waitlistEntryId = await entry({ patientId, serviceId: clinic.serviceId });
    await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId, expectedVersion: 1, reason: "Atendida." });
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    const answer = await call(clinic, "BookSeries", await seriesOf(clinic, { patientId, waitlistEntryId }));
    expectRefusal(answer, 409, ["patientId PATIENT_NOT_ACTIVE", "waitlistEntryId STATE_NOT_ALLOWED"]);
  });

  test("names every reference that does not exist, and what cannot be used", async () => {
    const unknown = {
      patientId: randomUUID(),
      payerId: randomUUID(),
      practitionerId: randomUUID(),
      waitlistEntryId: randomUUID(),
    };
    const items = ["patientId", "payerId", "waitlistEntryId", "practitionerId"].map((field) => `${field} NOT_FOUND`);
    expectRefusal(await call(clinic, "BookSeries", await seriesOf(clinic, unknown)), 404, items);
    const late = await seriesOf(clinic, { startsAt: startOn(400) });
    expectRefusal(await call(clinic, "BookSeries", late), 422, ["startsAt OUT_OF_RANGE"]);
    const foreign = await entry({ serviceId: clinic.serviceId });
    const misfit = await seriesOf(clinic, { waitlistEntryId: foreign });
    expectRefusal(await call(clinic, "BookSeries", misfit), 422, ["waitlistEntryId INVALID_VALUE"]);
    const short = await seriesOf(clinic, { count: 1, intervalDays: 0 });
    expectRefusal(await call(clinic, "BookSeries", short), 422, ["intervalDays OUT_OF_RANGE", "count OUT_OF_RANGE"]);
  });

  test("changes nothing if it only checks", async () => {
    const request = await seriesOf(clinic, { patientId, validateOnly: true });
    expect(bookedIn(await call(clinic, "BookSeries", request)).appointments).toHaveLength(2);
    expect(await unitsOf(clinic)).toMatchObject({ booked: 0 });
    expect(await mustCall(clinic, "ListAppointments", { patientId })).toMatchObject({ appointments: [] });
  });

  test("books one of two series for the same times, whoever is first", async () => {
    const requests = await Promise.all([1, 2, 3, 4].map(() => seriesOf(clinic, { count: 10 })));
    const answers = await Promise.all(requests.map((request) => call(clinic, "BookSeries", request)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  });
});

function entry(changes: JsonObject): Promise<string> {
  return deskFixtures(service, clinic.as).entry(changes);
}

async function bookSeries(changes: JsonObject) {
  return bookedIn(await call(clinic, "BookSeries", await seriesOf(clinic, { patientId, ...changes })));
}

/** Books the time of a day with the clinic's practitioner, for another patient by default. */
async function bookAt(changes: JsonObject, days: number, time = "08:00"): Promise<void> {
  await mustCall(
    clinic,
    "BookAppointmentAt",
    await timedBooking(clinic, { ...changes, startsAt: startOn(days, time) }),
  );
}

function startOn(days: number, time = "08:00"): string {
  return `${day(clinic, days)}T${time}:00-05:00`;
}

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { runExtensions } from "../schedule/run-extensions.js";
import { startTestService, type TestService } from "../support/service.js";
import { unitsOf } from "./hold-requests.js";
import { createResource, healthcareService } from "./resources-under-test.js";
import { expectRefusal } from "./rpc-under-test.js";
import { type BookedBody, bookedIn, seriesOf } from "./series-requests.js";
import { timedBooking } from "./timed-bookings.js";

const DESK = ["scheduling:read", "scheduling:write"];

let service: TestService;
/** As a supervisor, with every scope. */
let clinic: Clinic;
let desk: Clinic;
let cancellationReasonId: string;
let series: BookedBody;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  const as = { tenantId: randomUUID() };
  const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, as)));
  clinic = await openClinic(service, { as, practitionerIds, rule: { dailyCapacity: 2 } });
  desk = { ...clinic, as: { ...as, scopes: DESK } };
  cancellationReasonId = await fixtures.cancellationReason.create(service, as);
  series = bookedIn(await call(clinic, "BookSeries", await seriesOf(clinic, { count: 4, intervalDays: 2 })));
});

afterAll(() => closeConsistent(service));

describe("CancelSeries", () => {
  test("cancels all that are ahead, or those from one on, and frees their slots and units", async () => {
    const from = bookedIn(await cancel({ fromAppointmentId: idOf(2) }));
    expect(from.appointments.map(({ appointmentId }) => appointmentId)).toEqual([idOf(2), idOf(3)]);
    expect(await unitsOf(clinic)).toMatchObject({ booked: 2 });
    const all = bookedIn(await cancel({ comment: "Terminó el tratamiento." }));
    expect(all.appointments).toEqual(
      [0, 1].map((index) =>
        expect.objectContaining({ appointmentId: idOf(index), status: "CANCELLED", version: 2, cancellationReasonId }),
      ),
    );
    expect(await unitsOf(clinic)).toMatchObject({ booked: 0 });
    expectRefusal(await cancel(), 409, ["seriesId STATE_NOT_ALLOWED"]);
    expectRefusal(await cancel({ fromAppointmentId: idOf(1) }), 409, ["fromAppointmentId STATE_NOT_ALLOWED"]);
  });

  test("leaves what has begun and what has arrived", async () => {
    service.advance(Date.parse(`${series.appointments[0]?.startsAt}`) - service.now());
    await mustCall(clinic, "CheckInAppointment", { appointmentId: idOf(0), expectedVersion: 1 });
    expect(bookedIn(await cancel()).appointments).toHaveLength(3);
    expect(await mustCall(clinic, "GetAppointment", { appointmentId: idOf(0) })).toMatchObject({
      appointment: { status: "CHECKED_IN", seriesId: series.seriesId },
    });
  });

  test("names each that is too late, and an appointment and a reason that do not exist", async () => {
    await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 1, latestCancelHours: 96 });
    const items = ["occurrences[0] TOO_LATE", "occurrences[1] TOO_LATE"];
    expectRefusal(await cancel({}, desk), 409, items);
    expectRefusal(await cancel({ fromAppointmentId: randomUUID() }), 404, ["fromAppointmentId NOT_FOUND"]);
    const unknown = { cancellationReasonId: randomUUID() };
    expectRefusal(await cancel(unknown), 404, ["cancellationReasonId NOT_FOUND"]);
    expect(bookedIn(await cancel({ validateOnly: true })).appointments).toHaveLength(4);
    expect(await unitsOf(clinic)).toMatchObject({ booked: 4 });
    expect(bookedIn(await cancel()).appointments).toHaveLength(4);
  });
});

describe("MoveSeries", () => {
  test("moves one and those that follow by the same days and time, over the times that they leave", async () => {
    const { appointments } = bookedIn(await move(1, 6, "08:30"));
    const starts = [6, 8, 10].map((days) => `${day(clinic, days)}T13:30:00.000Z`);
    expect(appointments.map(({ startsAt }) => startsAt)).toEqual(starts);
    const back = bookedIn(await move(1, 8, "08:30", { expectedVersion: 2 }));
    expect(back.appointments.map(({ startsAt, version }) => [startsAt, version])).toEqual(
      [8, 10, 12].map((days) => [`${day(clinic, days)}T13:30:00.000Z`, 3]),
    );
    expect(await unitsOf(clinic)).toMatchObject({ booked: 4 });
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: idOf(3) });
    expect(changes).toHaveLength(3);
    expect(await mustCall(clinic, "GetAppointment", { appointmentId: idOf(0) })).toMatchObject({
      appointment: { version: 1 },
    });
  });

  test("moves to another practitioner, at the same times too", async () => {
    const practitionerId = `${clinic.practitionerIds[1]}`;
    const { appointments } = bookedIn(await move(0, 2, "08:00", { practitionerId }));
    expect(appointments.map((each) => each.practitionerId)).toEqual(Array.from({ length: 4 }, () => practitionerId));
    expect(await unitsOf(clinic)).toMatchObject({ booked: 4 });
  });

  test("moves within the own times of longer appointments", async () => {
    const long = await seriesOf(clinic, { durationMinutes: 60, startsAt: `${day(clinic, 3)}T10:00:00-05:00` });
    series = bookedIn(await call(clinic, "BookSeries", long));
    const { appointments } = bookedIn(await move(0, 3, "10:30"));
    expect(appointments[1]?.startsAt).toBe(`${day(clinic, 4)}T15:30:00.000Z`);
  });

  test("names everything that stands in the way, and moves nothing", async () => {
    const at = (days: number, time: string) => ({ startsAt: `${day(clinic, days)}T${time}:00-05:00` });
    await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic, at(3, "09:00")));
    for (const time of ["10:00", "11:00"])
      await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic, at(5, time)));
    const patientId = `${series.appointments[0]?.patientId}`;
    const elsewhere = await openClinic(service, { as: clinic.as });
    await mustCall(clinic, "BookAppointmentAt", await timedBooking(elsewhere, { ...at(7, "09:00"), patientId }));
    const units = await unitsOf(clinic);
    expectRefusal(await move(0, 3, "09:00"), 409, [
      "occurrences[0] SLOT_OCCUPIED",
      "occurrences[1] CAPACITY_EXHAUSTED",
      "occurrences[2] PATIENT_OVERLAP",
    ]);
    expectRefusal(await move(2, 13, "09:00"), 409, ["occurrences[1] NO_SLOT"]);
    const same = [0, 1, 2, 3].map((index) => `occurrences[${index}] SAME_SLOT`);
    expectRefusal(await move(0, 2, "08:00"), 409, same);
    expect(await unitsOf(clinic)).toEqual(units);
  });

  test("keeps the horizon of each program, also if one appointment is now in another", async () => {
    const { as, serviceId } = clinic;
    const { programId, ...other } = await openClinic(service, { as, serviceId });
    const appointmentId = idOf(3);
    const options = await optionsFor(clinic, { appointmentId, dateFrom: day(clinic, 8), dateTo: day(clinic, 8) });
    const option = options.find((each) => each.practitionerId === other.practitionerIds[0]);
    const optionToken = `${option?.optionToken}`;
    await mustCall(clinic, "MoveAppointment", { appointmentId, optionToken, expectedVersion: 1 });
    await mustCall(clinic, "UpdateProgramWindow", { programId, horizonDays: 10, expectedVersion: 1 });
    expectRefusal(await move(0, 5, "08:00"), 409, ["occurrences[3] NO_SLOT"]);
    expect((await move(0, 4, "08:00")).status).toBe(200);
  });

  test("names appointments that would meet each other at their new practitioner", async () => {
    const { as } = clinic;
    const practitionerIds = await Promise.all([1, 2, 3].map(() => fixtures.practitioner.create(service, as)));
    const own = await openClinic(service, { as, practitionerIds });
    const appointmentTypeId = await fixtures.appointmentType.create(service, as);
    await mustCall(own, "UpdateAppointmentTypeBuffer", { appointmentTypeId, bufferMinutes: 30, expectedVersion: 1 });
    series = bookedIn(await call(own, "BookSeries", await seriesOf(own, { appointmentTypeId })));
    const dates = { dateFrom: day(own, 2), dateTo: day(own, 2) };
    const options = await optionsFor(own, { appointmentId: idOf(1), ...dates });
    const inBuffer = options.find(({ startsAt }) => startsAt === series.appointments[0]?.endsAt);
    const next = { appointmentId: idOf(1), optionToken: `${inBuffer?.optionToken}`, expectedVersion: 1 };
    await mustCall(own, "MoveAppointment", next);
    const taken = new Set([series.appointments[0]?.practitionerId, inBuffer?.practitionerId]);
    const practitionerId = `${practitionerIds.find((id) => !taken.has(id))}`;
    expectRefusal(await move(0, 2, "09:00", { practitionerId }), 409, ["occurrences[1] SLOT_OCCUPIED"]);
    expect((await move(0, 2, "09:00")).status).toBe(200);
  });

  test("keeps the limits of the tenant", async () => {
    await mustCall(clinic, "UpdateTenantSettings", {
      expectedVersion: 1,
      latestRescheduleHours: 60,
      maxAppointmentsPerServiceAndDay: 1,
    });
    const patientId = `${series.appointments[0]?.patientId}`;
    const extra = await timedBooking(clinic, { patientId, startsAt: `${day(clinic, 10)}T11:00:00-05:00` });
    await mustCall(clinic, "BookAppointmentAt", extra);
    const items = ["occurrences[0] TOO_LATE", "occurrences[3] PATIENT_LIMIT"];
    expectRefusal(await move(0, 4, "08:00", {}, desk), 409, items);
    expect((await move(0, 4, "08:00")).status).toBe(200);
  });

  test("counts an appointment that leaves a day for the limit of its own service alone", async () => {
    const serviceId = (await createResource(service, healthcareService, {}, clinic.as)).id;
    const serviceIds = [clinic.serviceId, serviceId];
    await mustCall(clinic, "ReplaceProgramServices", { programId: clinic.programId, serviceIds, expectedVersion: 2 });
    await mustCall(clinic, "ChangeAppointment", { appointmentId: idOf(1), serviceId, expectedVersion: 1 });
    const patientId = `${series.appointments[0]?.patientId}`;
    const extra = await timedBooking(clinic, { patientId, startsAt: `${day(clinic, 4)}T11:00:00-05:00` });
    await mustCall(clinic, "BookAppointmentAt", extra);
    await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 1, maxAppointmentsPerServiceAndDay: 1 });
    expectRefusal(await move(0, 4, "08:00", {}, desk), 409, ["occurrences[0] PATIENT_LIMIT"]);
    expect((await move(1, 6, "08:00", { expectedVersion: 2 }, desk)).status).toBe(200);
  });

  test("counts two appointments of a day twice, and decides first visits again in another year", async () => {
    const { patientId } = series.appointments[0] as { patientId: string };
    const beside = { fromAppointmentId: idOf(3), startsAt: `${day(clinic, 6)}T11:00:00-05:00` };
    expect((await move(3, 6, "11:00", beside)).status).toBe(200);
    await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 1, maxAppointmentsPerServiceAndDay: 1 });
    expectRefusal(await move(2, 7, "08:00", {}, desk), 409, ["occurrences[1] PATIENT_LIMIT"]);
    const nextYear = Date.parse(`${Number(day(clinic, 0).slice(0, 4)) + 1}-01-02`);
    const days = (nextYear - Date.parse(day(clinic, 0))) / 86_400_000;
    const horizonDays = Math.max(days + 10, 90);
    await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 2, horizonDays });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", {
      programId,
      ruleId,
      validTo: day(clinic, days + 10),
      expectedVersion: 1,
    });
    await runExtensions(service, clinic.as.tenantId);
    const firstVisits = async () =>
      ((await mustCall(clinic, "ListAppointments", { patientId })) as unknown as BookedBody).appointments.map(
        ({ firstVisit }) => firstVisit,
      );
    expect(await firstVisits()).toEqual([true, false, false, false]);
    expect((await move(1, days, "08:00")).status).toBe(200);
    expect(await firstVisits()).toEqual([true, true, false, false]);
  });

  test("needs an appointment of the series that can be moved, its version, and an active patient and practitioner", async () => {
    expectRefusal(await move(0, 3, "08:00", { fromAppointmentId: randomUUID() }), 404, ["fromAppointmentId NOT_FOUND"]);
    expectRefusal(await move(0, 3, "08:00", { practitionerId: randomUUID() }), 404, ["practitionerId NOT_FOUND"]);
    expectRefusal(await move(0, 3, "08:00", { expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
    expectRefusal(await move(0, 400, "08:00"), 422, ["startsAt OUT_OF_RANGE"]);
    const patientId = `${series.appointments[0]?.patientId}`;
    const idle = `${clinic.practitionerIds[1]}`;
    await mustCall(clinic, "UpdatePractitioner", { practitionerId: idle, active: false, expectedVersion: 1 });
    expectRefusal(await move(0, 3, "08:00", { practitionerId: idle }), 422, ["practitionerId INVALID_VALUE"]);
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await move(0, 3, "08:00"), 409, ["fromAppointmentId PATIENT_NOT_ACTIVE"]);
    await mustCall(clinic, "CancelAppointment", { appointmentId: idOf(0), cancellationReasonId, expectedVersion: 1 });
    const gone = await move(0, 3, "08:00", { expectedVersion: 2 });
    expectRefusal(gone, 409, ["fromAppointmentId STATE_NOT_ALLOWED"]);
  });

  test("gives one of two callers the times when both move a series there", async () => {
    const second = bookedIn(
      await call(
        clinic,
        "BookSeries",
        await seriesOf(clinic, { count: 4, intervalDays: 2, startsAt: `${day(clinic, 2)}T11:00:00-05:00` }),
      ),
    );
    const other = { seriesId: second.seriesId, fromAppointmentId: `${second.appointments[0]?.appointmentId}` };
    const answers = await Promise.all([move(0, 3, "09:00"), move(0, 3, "09:00", other)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });
});

function idOf(index: number): string {
  return `${series.appointments[index]?.appointmentId}`;
}

function cancel(changes: JsonObject = {}, as = clinic) {
  return call(as, "CancelSeries", { seriesId: series.seriesId, cancellationReasonId, ...changes });
}

/** Moves the series from one appointment on, which is to begin at this time so many days after today. */
function move(index: number, days: number, time: string, changes: JsonObject = {}, as = clinic) {
  const from = { seriesId: series.seriesId, fromAppointmentId: idOf(index), expectedVersion: 1 };
  return call(as, "MoveSeries", { ...from, startsAt: `${day(clinic, days)}T${time}:00-05:00`, ...changes });
}

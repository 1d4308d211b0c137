import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, call, everyMorning, mustCall, openClinic } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { unitsOf } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { bookedIn } from "./series-requests.js";
import { at, timedBooking } from "./timed-bookings.js";

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service, { as: { tenantId: randomUUID() }, rule: { dailyCapacity: 3 } });
});

afterAll(() => closeConsistent(service));

describe("BookTogether", () => {
  test("books the patients one after the other in their order, each with a unit", async () => {
    const request = await familyOf(clinic, [{}, { durationMinutes: 45 }, {}]);
    const { appointments } = bookedIn(await call(clinic, "BookTogether", request));
    expect(appointments.map(({ startsAt, endsAt }) => [timeOf(startsAt), timeOf(endsAt)])).toEqual([
      ["13:00", "13:30"],
      ["13:30", "14:30"],
      ["14:30", "15:00"],
    ]);
    expect(appointments.map(({ patientId }) => patientId)).toEqual(patientsOf(request));
    for (const each of appointments) expect(each).not.toHaveProperty("seriesId");
    expect(await unitsOf(clinic)).toMatchObject({ booked: 3 });
  });

  test("closes the waitlist entries of the patients", async () => {
    const request = await familyOf(clinic, [{}, {}]);
    const [, second] = patientsOf(request);
    const wish = { patientId: `${second}`, serviceId: clinic.serviceId };
    const waitlistEntryId = await deskFixtures(service, clinic.as).entry(wish);
    const { appointments } = bookedIn(await call(clinic, "BookTogether", withVisit(request, 1, { waitlistEntryId })));
    const { waitlistEntry } = await mustCall(clinic, "GetWaitlistEntry", { waitlistEntryId });
    expect(waitlistEntry).toMatchObject({ status: "CLOSED", appointmentId: appointments[1]?.appointmentId });
    const again = withVisit(await familyOf(clinic, [{}, {}], "10:00"), 0, { waitlistEntryId });
    expectRefusal(await call(clinic, "BookTogether", again), 422, ["visits[0].waitlistEntryId INVALID_VALUE"]);
  });

  test("names everything that stands in the way of each visit, and books none", async () => {
    const request = await familyOf(clinic, [{}, {}, {}, {}]);
    const [first, second] = patientsOf(request);
    const elsewhere = await openClinic(service, { as: clinic.as });
    await mustCall(
      clinic,
      "BookAppointmentAt",
      await timedBooking(elsewhere, { patientId: `${second}`, startsAt: at(clinic, "08:30") }),
    );
    await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic, { startsAt: at(clinic, "09:00") }));
    await mustCall(clinic, "SetPatientStatus", { patientId: `${first}`, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await call(clinic, "BookTogether", request), 409, [
      "visits[0].patientId PATIENT_NOT_ACTIVE",
      "visits[1] PATIENT_OVERLAP",
      "visits[2] SLOT_OCCUPIED",
      "visits[2] CAPACITY_EXHAUSTED",
      "visits[3] CAPACITY_EXHAUSTED",
    ]);
    const late = await familyOf(clinic, [{}, {}, {}], "11:00");
    expectRefusal(await call(clinic, "BookTogether", late), 409, ["visits[2] NO_SLOT"]);
    expect(await unitsOf(clinic)).toMatchObject({ booked: 1 });
  });

  test("names every reference that does not exist, once if the visits share it", async () => {
    const unknown = { patientId: randomUUID(), payerId: randomUUID() };
    const request = await familyOf(clinic, [{ payerId: randomUUID() }, unknown]);
    const items = ["requestSourceId", "visits[0].payerId", "visits[1].patientId", "visits[1].payerId"];
    const answer = await call(clinic, "BookTogether", { ...request, requestSourceId: randomUUID() });
    expectRefusal(
      answer,
      404,
      items.map((field) => `${field} NOT_FOUND`),
    );
  });

  test("takes 2 to 6 different patients", async () => {
    const one = await familyOf(clinic, [{}]);
    expectRefusal(await call(clinic, "BookTogether", one), 422, ["visits TOO_FEW"]);
    const patientId = await fixtures.createPatient(service, {}, clinic.as);
    const twice = await familyOf(clinic, [{ patientId }, { patientId: patientId.toUpperCase() }]);
    expectRefusal(await call(clinic, "BookTogether", twice), 422, ["visits DUPLICATE"]);
  });

  test("takes ids in upper case, and returns them in lower case", async () => {
    const patientId = await fixtures.createPatient(service, {}, clinic.as);
    const appointmentTypeId = await fixtures.appointmentType.create(service, clinic.as);
    const visit = { patientId: patientId.toUpperCase(), appointmentTypeId: appointmentTypeId.toUpperCase() };
    const { appointments } = bookedIn(await call(clinic, "BookTogether", await familyOf(clinic, [visit, {}])));
    expect(appointments[0]).toMatchObject({ patientId, appointmentTypeId });
  });

  test("leaves no gap where the slots become longer", async () => {
    const wide = { ...everyMorning, startsAtLocal: "12:00", endsAtLocal: "14:00", slotDurationMinutes: 60 };
    await fixtures.createRule(service, clinic.programId, wide, clinic.as);
    await mustCall(clinic, "MaterializeSchedule", { programId: clinic.programId });
    const request = await familyOf(clinic, [{}, {}, {}], "11:30");
    expectRefusal(await call(clinic, "BookTogether", request), 409, ["visits[2] NO_SLOT"]);
    const two = await familyOf(clinic, [{}, {}], "11:30");
    const { appointments } = bookedIn(await call(clinic, "BookTogether", two));
    expect(appointments.map(({ startsAt, endsAt }) => [timeOf(startsAt), timeOf(endsAt)])).toEqual([
      ["16:30", "17:00"],
      ["17:00", "18:00"],
    ]);
  });

  test("leaves no gap where the slots become shorter", async () => {
    const narrow = { ...everyMorning, startsAtLocal: "12:00", endsAtLocal: "14:00", slotDurationMinutes: 10 };
    await fixtures.createRule(service, clinic.programId, narrow, clinic.as);
    await mustCall(clinic, "MaterializeSchedule", { programId: clinic.programId });
    const short = await familyOf(clinic, [{}, { durationMinutes: 15 }, {}], "11:30");
    expectRefusal(await call(clinic, "BookTogether", short), 409, ["visits[2] NO_SLOT"]);
  });
});

/** Builds a request for the visits of new patients from a time on the day after tomorrow, each with these changes. */
async function familyOf(target: Clinic, visits: readonly JsonObject[], time = "08:00"): Promise<JsonObject> {
  const shared = await timedBooking(target, { startsAt: at(target, time) });
  const { patientId: _, appointmentTypeId, ...rest } = shared;
  const patientIds = await Promise.all(visits.map(() => fixtures.createPatient(service, {}, target.as)));
  return {
    ...rest,
    visits: visits.map((changes, index) => ({ patientId: `${patientIds[index]}`, appointmentTypeId, ...changes })),
  } as JsonObject;
}

function patientsOf({ visits }: JsonObject): readonly string[] {
  return (visits as unknown as readonly { readonly patientId: string }[]).map(({ patientId }) => patientId);
}

function withVisit(request: JsonObject, index: number, changes: JsonObject): JsonObject {
  const visits = request["visits"] as JsonObject[];
  return { ...request, visits: visits.with(index, { ...visits[index], ...changes }) };
}

function timeOf(instant: string): string {
  return instant.slice(11, 16);
}

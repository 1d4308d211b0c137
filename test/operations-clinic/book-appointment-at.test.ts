import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as makers from "../contract/makers.js";
import { appointmentIn, bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { brokenInvariants, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { describeAccess, expectRefusal } from "./rpc-under-test.js";
import { AROUND_THE_CLOCK, at, countsOf, moveIntoSlot, timedBooking } from "./timed-bookings.js";

const { bookAppointmentAt } = BookingService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(async () => {
  const broken = [...(await brokenInvariants(service)), ...(await foundByTheService(service))];
  await service.close();
  expect(broken).toEqual([]);
});

describe("BookAppointmentAt", () => {
  let next = 0;
  describeAccess(
    {
      method: bookAppointmentAt,
      scope: "scheduling:write",
      prepare: async () => timedBooking(clinic, { startsAt: `${day(clinic, 10 + next++)}T08:00:00-05:00` }),
    },
    () => service,
  );

  test("books the free slot that begins then, PENDING at version 1, and leaves a row in the audit trail", async () => {
    const request = await timedBooking(await openClinic(service));
    const answer = await send(request);
    const { patientId, programId, practitionerId } = request;
    const expected = { patientId, programId, practitionerId, status: "PENDING", version: 1, overbooked: false };
    expect(appointmentIn(answer)).toMatchObject(expected);
    expect(startAndEnd(appointmentIn(answer))).toEqual(["13:00", "13:30"]);
    expect(await auditOf(service, answer)).toMatchObject([{ action: "CREATE", resource_type: "Appointment" }]);
  });

  test("takes as many slots as the duration needs, and one unit of the day", async () => {
    const own = await openClinic(service);
    const double = await send(await timedBooking(own, { durationMinutes: 60 }));
    expect(startAndEnd(appointmentIn(double))).toEqual(["13:00", "14:00"]);
    expect(await countsOf(service, own)).toEqual({ counted: 1, beside: 0 });
    const [option] = await optionsFor(own, { patientId: await makers.createPatient(service) });
    expect(option?.startsAt.slice(11, 16)).toBe("14:00");
  });

  test("does once what is sent twice under one key", async () => {
    const request = await timedBooking(clinic, { startsAt: at(clinic, "09:00") });
    const headers = { "idempotency-key": randomUUID() };
    const answers = [await send(request, { headers }), await send(request, { headers })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });
});

describe("a patient who has come without an appointment", () => {
  test("gets the slot of the moment, is confirmed by being there, and goes on as usual", async () => {
    const own = await openClinic(service, { rule: AROUND_THE_CLOCK });
    const startsAt = await moveIntoSlot(own, 5);
    const { startsAt: _, ...now } = await timedBooking(own, { durationMinutes: 20 });
    const appointment = appointmentIn(await send(now));
    expect([appointment.status, new Date(appointment.startsAt).toISOString()]).toEqual(["CONFIRMED", startsAt]);
    const { appointmentId } = appointment;
    await mustCall(own, "CheckInAppointment", { appointmentId, expectedVersion: 1 });
    await mustCall(own, "MarkAppointmentAttended", { appointmentId, expectedVersion: 2 });
  });

  test.each([
    [15, 200],
    [16, 422],
  ])("who comes %i minutes after it has begun: %i", async (minutes, status) => {
    const own = await openClinic(service, { rule: AROUND_THE_CLOCK });
    const startsAt = await moveIntoSlot(own, minutes);
    const changes = { durationMinutes: 20 };
    const { startsAt: _, ...now } = await timedBooking(own, changes);
    if (status === 200) return expect(startAndEnd(appointmentIn(await send(now)))[0]).toBe(startsAt.slice(11, 16));
    expectRefusal(await send(now), 422, ["startsAt INVALID_VALUE"]);
    expectRefusal(await send(await timedBooking(own, { ...changes, startsAt })), 422, ["startsAt OUT_OF_RANGE"]);
  });
});

describe("a time that cannot be booked", () => {
  test.each<[string, { startsAt: string; seconds?: number; durationMinutes?: number }, string]>([
    ["at which no slot begins", { startsAt: "08:10" }, "startsAt INVALID_VALUE"],
    ["for which the slots do not last", { startsAt: "11:30", durationMinutes: 31 }, "startsAt INVALID_VALUE"],
    ["of no whole minute", { startsAt: "08:00", seconds: 1 }, "startsAt OUT_OF_RANGE"],
    ["of no length", { startsAt: "08:00", durationMinutes: 0 }, "durationMinutes OUT_OF_RANGE"],
    ["of more than a day", { startsAt: "08:00", durationMinutes: 1441 }, "durationMinutes OUT_OF_RANGE"],
  ])("is one %s: 422", async (_, { startsAt, seconds = 0, ...changes }, item) => {
    const start = at(clinic, startsAt).replace(":00-05:00", `:0${seconds}-05:00`);
    expectRefusal(await send(await timedBooking(clinic, { ...changes, startsAt: start })), 422, [item]);
  });

  test.each([-1, 91, 365])("is one %i days from today: 422", async (days) => {
    const startsAt = `${day(clinic, days)}T08:00:00-05:00`;
    expectRefusal(await send(await timedBooking(clinic, { startsAt })), 422, ["startsAt OUT_OF_RANGE"]);
  });

  test("is one that somebody has, though it be the last of its slots: 409", async () => {
    const own = await openClinic(service);
    await bookFirst(own, await makers.createPatient(service), {}, 1);
    expectRefusal(await send(await timedBooking(own, { durationMinutes: 60 })), 409, ["startsAt SLOT_OCCUPIED"]);
    expect(await countsOf(service, own)).toEqual({ counted: 1, beside: 0 });
  });

  test("is one on a day that is full, or when practitioner or patient are elsewhere: 409", async () => {
    const { practitionerIds } = clinic;
    const other = await openClinic(service, { practitionerIds, rule: { dailyCapacity: 1 } });
    const request = await timedBooking(clinic, { startsAt: at(clinic, "10:00") });
    appointmentIn(await send(request));
    const there = { startsAt: at(clinic, "10:00") };
    expectRefusal(await send(await timedBooking(other, there)), 409, ["startsAt SLOT_OCCUPIED"]);
    const elsewhere = await openClinic(service);
    const { patientId = "" } = request;
    expectRefusal(await send(await timedBooking(elsewhere, { ...there, patientId })), 409, [
      "startsAt PATIENT_OVERLAP",
    ]);
    appointmentIn(await send(await timedBooking(other, { startsAt: at(clinic, "08:30") })));
    const full = await timedBooking(other, { startsAt: at(clinic, "11:00") });
    expectRefusal(await send(full), 409, ["startsAt CAPACITY_EXHAUSTED"]);
  });
});

describe("what a request names", () => {
  test("exists, or each that does not is named, another tenant's too: 404", async () => {
    const request = await timedBooking(clinic);
    const ids = ["patientId", "programId", "practitionerId", "serviceId", "requestSourceId", "appointmentTypeId"];
    const absent = { ...request, ...Object.fromEntries(ids.map((id) => [id, randomUUID()])) };
    const items = (await send(absent)).body["errors"] as { field: string; code: string }[];
    expect(items.map(({ field, code }) => `${field} ${code}`).toSorted()).toEqual(
      ids.map((id) => `${id} NOT_FOUND`).toSorted(),
    );
    const foreign = await send(request, { as: { tenantId: randomUUID() } });
    expect([foreign.status, foreign.body["errors"]]).toEqual([404, items]);
  });

  test("goes together: the service is the program's, and so is the practitioner: 422", async () => {
    const serviceId = await makers.healthcareService.create(service, {});
    expectRefusal(await send(await timedBooking(clinic, { serviceId })), 422, ["serviceId INVALID_VALUE"]);
    const practitionerId = await makers.practitioner.create(service, {});
    expectRefusal(await send(await timedBooking(clinic, { practitionerId })), 422, ["practitionerId INVALID_VALUE"]);
  });

  test("is active: 409 for the patient, 422 for all else", async () => {
    const own = await openClinic(service);
    const patientId = await makers.createPatient(service);
    const request = await timedBooking(own, { patientId });
    for (const [table, field, id] of [
      ["programs", "programId", own.programId],
      ["practitioners", "practitionerId", own.practitionerIds[0]],
      ["healthcare_services", "serviceId", own.serviceId],
      ["appointment_types", "appointmentTypeId", own.appointmentTypeId],
    ]) {
      await service.query(`UPDATE ${table} SET active = false WHERE id = '${id}'`);
      expectRefusal(await send(request), 422, [`${field} INVALID_VALUE`]);
      await service.query(`UPDATE ${table} SET active = true WHERE id = '${id}'`);
    }
    await service.query(`UPDATE patients SET status = 'INACTIVE' WHERE id = '${patientId}'`);
    expectRefusal(await send(request), 409, ["patientId PATIENT_NOT_ACTIVE"]);
  });
});

test("of ten who want one time at once, one gets it", async () => {
  const own = await openClinic(service);
  const requests = await Promise.all(Array.from({ length: 10 }, () => timedBooking(own, { durationMinutes: 60 })));
  const as = (index: number) => ({ as: { client: `desk ${index % 4}` } });
  const answers = await Promise.all(requests.map((request, index) => send(request, as(index))));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(9).fill(409)]);
});

function send(request: JsonObject, changes: RpcChanges = {}) {
  return callRpc(service, bookAppointmentAt, request, changes);
}

function startAndEnd({ startsAt, endsAt }: { readonly startsAt: string; readonly endsAt: string }): string[] {
  return [startsAt.slice(11, 16), endsAt.slice(11, 16)];
}

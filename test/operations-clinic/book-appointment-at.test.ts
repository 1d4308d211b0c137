import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { messagesOf } from "../support/problem.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";
import { AROUND_THE_CLOCK, at, countsOf, moveIntoSlot, timedBooking } from "./timed-bookings.js";

const { bookAppointmentAt } = BookingService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("BookAppointmentAt", () => {
  test("books the free slot with this start, PENDING at version 1, and writes an audit row", async () => {
    const request = await timedBooking(await openClinic(service));
    const answer = await send(request);
    const { patientId, programId, practitionerId } = request;
    const expected = { patientId, programId, practitionerId, status: "PENDING", version: 1, overbooked: false };
    expect(appointmentIn(answer)).toMatchObject(expected);
    expect(startAndEnd(appointmentIn(answer))).toEqual(["13:00", "13:30"]);
    expect(await auditOf(service, answer)).toMatchObject([{ action: "CREATE", resource_type: "Appointment" }]);
  });

  test("occupies as many slots as the duration needs, and one unit of the daily capacity", async () => {
    const own = await openClinic(service);
    const double = await send(await timedBooking(own, { durationMinutes: 60 }));
    expect(startAndEnd(appointmentIn(double))).toEqual(["13:00", "14:00"]);
    expect(await countsOf(service, own)).toEqual({ counted: 1, beside: 0 });
    const [option] = await optionsFor(own, { patientId: await fixtures.createPatient(service) });
    expect(option?.startsAt.slice(11, 16)).toBe("14:00");
  });

  test("books once if the request is repeated with its key", async () => {
    const request = await timedBooking(clinic, { startsAt: at(clinic, "09:00") });
    const headers = { "idempotency-key": randomUUID() };
    const answers = [await send(request, { headers }), await send(request, { headers })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });
});

describe("a patient who walks in", () => {
  test("gets the current slot, is confirmed at once, and continues as usual", async () => {
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
  ])("%i minutes after the start of the slot: %i", async (minutes, status) => {
    const own = await openClinic(service, { rule: AROUND_THE_CLOCK });
    const other = await openClinic(service, { rule: AROUND_THE_CLOCK });
    const startsAt = await moveIntoSlot(own, minutes);
    const changes = { durationMinutes: 20 };
    const { startsAt: _, ...now } = await timedBooking(own, changes);
    if (status === 200) {
      const named = await timedBooking(other, { ...changes, startsAt });
      for (const request of [now, named]) {
        expect(startAndEnd(appointmentIn(await send(request)))[0]).toBe(startsAt.slice(11, 16));
      }
      return;
    }
    expectRefusal(await send(now), 422, ["startsAt INVALID_VALUE"]);
    expectRefusal(await send(await timedBooking(own, { ...changes, startsAt })), 422, ["startsAt OUT_OF_RANGE"]);
  });
});

describe("a time that cannot be booked", () => {
  test.each<[string, { startsAt: string; seconds?: number; durationMinutes?: number }, string]>([
    ["at which no slot begins", { startsAt: "08:10" }, "startsAt INVALID_VALUE"],
    ["whose slots end too early", { startsAt: "11:30", durationMinutes: 31 }, "startsAt INVALID_VALUE"],
    ["that is not a whole minute", { startsAt: "08:00", seconds: 1 }, "startsAt OUT_OF_RANGE"],
    ["of no length", { startsAt: "08:00", durationMinutes: 0 }, "durationMinutes OUT_OF_RANGE"],
    ["of more than a day", { startsAt: "08:00", durationMinutes: 1441 }, "durationMinutes OUT_OF_RANGE"],
  ])("is one %s: 422", async (_, { startsAt, seconds = 0, ...changes }, item) => {
    const start = at(clinic, startsAt).replace(":00-05:00", `:0${seconds}-05:00`);
    expectRefusal(await send(await timedBooking(clinic, { ...changes, startsAt: start })), 422, [item]);
  });

  test.each([
    [-1, "08:00"],
    [91, "00:00"],
    [91, "08:00"],
    [365, "08:00"],
  ])("is one %i days from today at %s: 422", async (days, time) => {
    const startsAt = `${day(clinic, days)}T${time}:00-05:00`;
    expectRefusal(await send(await timedBooking(clinic, { startsAt })), 422, ["startsAt OUT_OF_RANGE"]);
  });

  test("is answered with the first and the last bookable time: 422", async () => {
    const startsAt = `${day(clinic, -1)}T08:00:00-05:00`;
    const [message = ""] = messagesOf(await send(await timedBooking(clinic, { startsAt })));
    const [, from = "", before = ""] =
      /^the value must be a whole minute, from (\S+) and before (\S+)$/.exec(message) ?? [];
    expect(Math.floor((service.now() - Date.parse(from)) / 60_000)).toBe(15);
    expect(Date.parse(before)).toBe(Date.parse(`${day(clinic, 91)}T00:00:00-05:00`));
  });

  test("is one whose slots are occupied, even if only the last one is: 409", async () => {
    const own = await openClinic(service);
    await bookFirst(own, await fixtures.createPatient(service), {}, 1);
    expectRefusal(await send(await timedBooking(own, { durationMinutes: 60 })), 409, ["startsAt SLOT_OCCUPIED"]);
    expect(await countsOf(service, own)).toEqual({ counted: 1, beside: 0 });
  });

  test("is one on a full day, or at which the practitioner or patient has another appointment: 409", async () => {
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

describe("the resources in a request", () => {
  test("must exist, and all unknown ones and another tenant's are listed: 404", async () => {
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

  test("must exist also if only the appointment type is unknown, by which the length is not known: 404", async () => {
    const request = await timedBooking(await openClinic(service), { appointmentTypeId: randomUUID() });
    for (const changes of [{}, { durationMinutes: 30 }])
      expectRefusal(await send({ ...request, ...changes }), 404, ["appointmentTypeId NOT_FOUND"]);
  });

  test("must match: the program must offer the service and have the practitioner: 422", async () => {
    const serviceId = await fixtures.healthcareService.create(service, {});
    expectRefusal(await send(await timedBooking(clinic, { serviceId })), 422, ["serviceId INVALID_VALUE"]);
    const practitionerId = await fixtures.practitioner.create(service, {});
    expectRefusal(await send(await timedBooking(clinic, { practitionerId })), 422, ["practitionerId INVALID_VALUE"]);
  });

  test("must be active: 409 for the patient, 422 for the others", async () => {
    const own = await openClinic(service);
    const patientId = await fixtures.createPatient(service);
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

test("one of ten concurrent bookings of the same time succeeds", async () => {
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

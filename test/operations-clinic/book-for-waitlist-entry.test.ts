import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { appointmentIn, book, type Clinic, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { messagesOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal } from "./rpc-under-test.js";
import { timedBooking } from "./timed-bookings.js";

const { bookAppointmentAt, overbookAppointment } = BookingService.method;
const REASON = { reason: "Espera hace tres meses." };

let service: TestService;
let clinic: Clinic;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await shareTestService();
  clinic = await openClinic(service);
  make = deskFixtures(service);
});

afterAll(() => service.close());

describe("BookAppointment for a waitlist entry", () => {
  test("closes the entry in the same transaction, with the appointment instead of a reason", async () => {
    const { patientId, waitlistEntryId } = await waiting();
    const headers = { "actor-id": "agent-7", "idempotency-key": randomUUID() };
    const request = { ...(await booking(patientId)), waitlistEntryId };
    const answer = await callRpc(service, BookingService.method.bookAppointment, request, { headers });
    const { appointmentId } = appointmentIn(answer);
    expect(await get(waitlistEntryId)).toMatchObject({
      status: "CLOSED",
      version: 2,
      appointmentId,
      closedAt: expect.any(String),
      closedByActor: "agent-7",
    });
    expect(await get(waitlistEntryId)).not.toHaveProperty("closeReason");
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "CREATE", resource_type: "Appointment", resource_id: appointmentId },
      { action: "UPDATE", resource_type: "WaitlistEntry", resource_id: waitlistEntryId, resource_version: 2 },
    ]);
    const replay = await callRpc(service, BookingService.method.bookAppointment, request, { headers });
    expect([replay.body, await get(waitlistEntryId)]).toEqual([answer.body, expect.objectContaining({ version: 2 })]);
  });

  test("is rejected for an unknown entry or another tenant's: 404, and nothing is booked", async () => {
    const { patientId } = await waiting();
    const foreign = await deskFixtures(service, { tenantId: randomUUID() }).entry();
    for (const waitlistEntryId of [randomUUID(), foreign]) {
      expectRefusal(await bookFor(patientId, waitlistEntryId), 404, ["waitlistEntryId NOT_FOUND"]);
    }
    const { appointments } = await mustCall(clinic, "ListAppointments", { patientId });
    expect(appointments).toEqual([]);
  });

  test("is rejected for a closed entry: 409", async () => {
    const { patientId, waitlistEntryId } = await waiting();
    await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId, expectedVersion: 1, reason: "Atendida." });
    expectRefusal(await bookFor(patientId, waitlistEntryId), 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
  });

  test("is rejected for an entry of another patient or for another service: 422", async () => {
    const { patientId } = await waiting();
    const other = await waiting();
    const elsewhere = await make.entry({ patientId });
    for (const [waitlistEntryId, message] of [
      [other.waitlistEntryId, "the waitlist entry belongs to another patient"],
      [elsewhere, "the waitlist entry is for another service"],
    ] as const) {
      const refused = await bookFor(patientId, waitlistEntryId);
      expectRefusal(refused, 422, ["waitlistEntryId INVALID_VALUE"]);
      expect(messagesOf(refused)).toEqual([message]);
      expect(await get(waitlistEntryId)).toMatchObject({ status: "ACTIVE", version: 1 });
    }
  });

  test("leaves the entry unchanged if the booking fails", async () => {
    const { patientId, waitlistEntryId } = await waiting();
    const taken = await booking(patientId);
    await mustCall(clinic, "BookAppointment", taken);
    const answer = await callRpc(service, BookingService.method.bookAppointment, { ...taken, waitlistEntryId });
    expectRefusal(answer, 410);
    expect(await get(waitlistEntryId)).toMatchObject({ status: "ACTIVE", version: 1 });
  });

  test("of a concurrent booking and closure, one closes the entry", async () => {
    const { patientId, waitlistEntryId } = await waiting();
    const request = await booking(patientId);
    const closure = { waitlistEntryId, expectedVersion: 1, reason: "No espera más." };
    const [booked, closed] = await Promise.all([
      callRpc(service, BookingService.method.bookAppointment, { ...request, waitlistEntryId }),
      callRpc(service, DeskService.method.closeWaitlistEntry, closure),
    ]);
    expect(new Set([booked.status, closed.status])).toEqual(new Set([200, 409]));
    expect(await get(waitlistEntryId)).toMatchObject({ status: "CLOSED", version: 2 });
  });
});

describe.each([
  ["BookAppointmentAt", bookAppointmentAt, {}, false],
  ["OverbookAppointment of a free slot", overbookAppointment, REASON, false],
  ["OverbookAppointment outside the schedule", overbookAppointment, { ...REASON, durationMinutes: 25 }, true],
] as const)("%s for a waitlist entry", (_, method, changes, isBeside) => {
  test("closes the entry in the same transaction, and once if the request is repeated", async () => {
    const { request, waitlistEntryId } = await wanting();
    const headers = { "actor-id": "agent-7", "idempotency-key": randomUUID() };
    const answer = await callRpc(service, method, request, { headers });
    const { appointmentId, ...appointment } = appointmentIn(answer);
    expect(appointment).toMatchObject({ overbooked: isBeside });
    expect(await get(waitlistEntryId)).toMatchObject({ status: "CLOSED", version: 2, appointmentId });
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "CREATE", resource_type: "Appointment", resource_id: appointmentId },
      { action: "UPDATE", resource_type: "WaitlistEntry", resource_id: waitlistEntryId, resource_version: 2 },
    ]);
    const replay = await callRpc(service, method, request, { headers });
    expect([replay.body, await get(waitlistEntryId)]).toEqual([answer.body, expect.objectContaining({ version: 2 })]);
  });

  test("is rejected for an unknown or closed entry, and for one of another patient or service", async () => {
    const { request, patientId, waitlistEntryId, own } = await wanting();
    const foreign = await deskFixtures(service, { tenantId: randomUUID() }).entry();
    const another = await make.entry({ serviceId: own.serviceId });
    const elsewhere = await make.entry({ patientId });
    const bookingFor = (id: string) => callRpc(service, method, { ...request, waitlistEntryId: id });
    for (const id of [randomUUID(), foreign]) {
      expectRefusal(await bookingFor(id), 404, ["waitlistEntryId NOT_FOUND"]);
    }
    for (const id of [another, elsewhere]) {
      expectRefusal(await bookingFor(id), 422, ["waitlistEntryId INVALID_VALUE"]);
      expect(await get(id)).toMatchObject({ status: "ACTIVE", version: 1 });
    }
    await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId, expectedVersion: 1, reason: "Atendida." });
    expectRefusal(await bookingFor(waitlistEntryId), 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
    const { appointments } = await mustCall(clinic, "ListAppointments", { patientId });
    expect(appointments).toEqual([]);
  });

  test("leaves the entry unchanged if the patient has another appointment then", async () => {
    const { request, patientId, waitlistEntryId } = await wanting();
    const elsewhere = await timedBooking(await openClinic(service), { patientId });
    appointmentIn(await callRpc(service, bookAppointmentAt, elsewhere));
    expectRefusal(await callRpc(service, method, request), 409, ["startsAt PATIENT_OVERLAP"]);
    expect(await get(waitlistEntryId)).toMatchObject({ status: "ACTIVE", version: 1 });
  });

  /** Opens a new clinic and builds a request for its first time. The time is occupied if the request overbooks. */
  async function wanting() {
    const own = await openClinic(service);
    if (isBeside) appointmentIn(await callRpc(service, bookAppointmentAt, await timedBooking(own)));
    const patientId = await make.patient();
    const waitlistEntryId = await make.entry({ patientId, serviceId: own.serviceId });
    return {
      own,
      patientId,
      waitlistEntryId,
      request: await timedBooking(own, { patientId, waitlistEntryId, ...changes }),
    };
  }
});

/** Creates a patient on the waitlist for the clinic's service. */
async function waiting() {
  const patientId = await make.patient();
  return { patientId, waitlistEntryId: await make.entry({ patientId, serviceId: clinic.serviceId }) };
}

async function booking(patientId: string): Promise<JsonObject> {
  const [option] = await optionsFor(clinic, { patientId });
  const { requestSourceId, appointmentTypeId } = clinic;
  return { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
}

async function bookFor(patientId: string, waitlistEntryId: string) {
  const [option] = await optionsFor(clinic, { patientId });
  return book(clinic, patientId, `${option?.optionToken}`, { waitlistEntryId });
}

async function get(waitlistEntryId: string): Promise<JsonObject> {
  const { waitlistEntry } = await mustCall(clinic, "GetWaitlistEntry", { waitlistEntryId });
  return waitlistEntry as JsonObject;
}

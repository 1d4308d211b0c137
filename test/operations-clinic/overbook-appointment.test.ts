import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";
import { at, countsOf, timedBooking } from "./timed-bookings.js";

const { overbookAppointment } = BookingService.method;
const reason = "La paciente viaja desde Leticia y debe volver hoy.";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("OverbookAppointment", () => {
  test("books at the same time as another appointment of the practitioner, stores the reason, and uses no daily capacity", async () => {
    const clinic = await fullClinic();
    const answer = await send(await overbooking(clinic, { durationMinutes: 25 }));
    const expected = { overbooked: true, overbookingReason: reason, status: "PENDING", version: 1, displaced: false };
    expect(appointmentIn(answer)).toMatchObject(expected);
    expect(times(appointmentIn(answer))).toEqual(["13:00", "13:25"]);
    expect(await countsOf(service, clinic)).toEqual({ counted: 1, beside: 1 });
    expect(await auditOf(service, answer)).toMatchObject([{ action: "CREATE", resource_type: "Appointment" }]);
  });

  test("is counted separately by VerifyInvariants, which reports no findings", async () => {
    const as = { tenantId: randomUUID() };
    const clinic = await fullClinic(as);
    appointmentIn(await send(await overbooking(clinic), { as }));
    appointmentIn(await send(await overbooking(clinic), { as }));
    const { invariantReport } = await mustCall(clinic, "VerifyInvariants", {});
    expect(invariantReport).toMatchObject({
      findings: [],
      liveAppointmentCount: 3,
      occupiedSlotCount: 3,
      countedBookingCount: 1,
      overbookedAppointmentCount: 2,
    });
  });

  test("books beyond the daily capacity, and where the practitioner has no slots", async () => {
    const clinic = await fullClinic();
    for (const time of ["11:00", "19:07"]) {
      expect(appointmentIn(await send(await overbooking(clinic, { startsAt: at(clinic, time) })))).toMatchObject({
        overbooked: true,
      });
    }
    expect(await countsOf(service, clinic)).toEqual({ counted: 1, beside: 2 });
  });

  test("books under a block, which displaces the appointment until it is accepted or the block is cancelled", async () => {
    const clinic = await openClinic(service);
    const target = { practitionerId: `${clinic.practitionerIds[0]}`, kind: "MEETING" };
    const block = { ...target, startsAt: at(clinic, "08:00"), endsAt: at(clinic, "09:00") };
    const { scheduleBlock } = await mustCall(clinic, "CreateScheduleBlock", block);
    const { scheduleBlockId } = scheduleBlock as { scheduleBlockId: string };
    const { appointmentId, ...booked } = appointmentIn(await send(await overbooking(clinic)));
    const displacement = {
      overbooked: true,
      displaced: true,
      displacedBy: "BLOCK",
      scheduleBlockId,
      displacementAccepted: true,
    };
    expect(booked).toMatchObject(displacement);
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ overbooked: true, displaced: false });
  });

  test("books an ordinary slot if there is a free one", async () => {
    const clinic = await openClinic(service);
    const appointment = appointmentIn(await send(await overbooking(clinic)));
    expect(appointment).toMatchObject({ overbooked: false });
    expect(appointment).not.toHaveProperty("overbookingReason");
    expect(await countsOf(service, clinic)).toEqual({ counted: 1, beside: 0 });
  });

  test("books beside a free slot if the practitioner has an appointment in another program then", async () => {
    const clinic = await openClinic(service);
    const elsewhere = await openClinic(service, { practitionerIds: clinic.practitionerIds });
    await bookFirst(elsewhere, await fixtures.createPatient(service));
    expect(appointmentIn(await send(await overbooking(clinic)))).toMatchObject({ overbooked: true });
    expect(await countsOf(service, clinic)).toEqual({ counted: 0, beside: 1 });
  });

  test("keeps the practitioner busy to its end, during a shorter appointment that begins later and after it", async () => {
    const clinic = await openClinic(service);
    await bookFirst(clinic, await fixtures.createPatient(service));
    const long = await overbooking(clinic, { startsAt: at(clinic, "07:30"), durationMinutes: 120 });
    expect(appointmentIn(await send(long))).toMatchObject({ overbooked: true });
    const [first] = await optionsFor(clinic, { patientId: await fixtures.createPatient(service) });
    expect(first && times(first)).toEqual(["14:30", "15:00"]);
  });

  test("books the current minute if no time is sent, and confirms it", async () => {
    const clinic = await fullClinic();
    const { startsAt: _, ...now } = await overbooking(clinic, { durationMinutes: 1 });
    expect(appointmentIn(await send(now))).toMatchObject({ status: "CONFIRMED", overbooked: true });
  });

  test("rejects a time at which the patient has another appointment, overbooked or not: 409", async () => {
    const clinic = await fullClinic();
    const request = await overbooking(clinic, { startsAt: at(clinic, "08:10") });
    appointmentIn(await send(request));
    const { patientId = "" } = request;
    for (const where of [clinic, await openClinic(service)]) {
      expectRefusal(await send(await overbooking(where, { patientId })), 409, ["startsAt PATIENT_OVERLAP"]);
    }
  });

  test("books outside the schedule if the patient is busy only at the end of a slot that is longer than the visit", async () => {
    const [clinic, elsewhere] = await Promise.all([openClinic(service), openClinic(service)]);
    const later = await overbooking(elsewhere, { startsAt: at(clinic, "08:20"), durationMinutes: 20 });
    const { patientId = "" } = later;
    appointmentIn(await send(later));
    const appointment = appointmentIn(await send(await overbooking(clinic, { patientId, durationMinutes: 20 })));
    expect(appointment).toMatchObject({ overbooked: true });
    expect(times(appointment)).toEqual(["13:00", "13:20"]);
  });

  test("rejects an inactive patient, also where a slot is free: 409", async () => {
    const clinic = await openClinic(service);
    const patientId = await fixtures.createPatient(service);
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await send(await overbooking(clinic, { patientId })), 409, ["patientId PATIENT_NOT_ACTIVE"]);
  });

  test("books directly before and after another appointment of the patient", async () => {
    const clinic = await fullClinic();
    const patientId = await fixtures.createPatient(service);
    for (const time of ["08:10", "08:00", "08:20"]) {
      const request = await overbooking(clinic, { patientId, startsAt: at(clinic, time), durationMinutes: 10 });
      expect(appointmentIn(await send(request))).toMatchObject({ overbooked: true });
    }
  });

  test("books once if the request is repeated with its key", async () => {
    const request = await overbooking(await fullClinic());
    const headers = { "idempotency-key": randomUUID() };
    const answers = [await send(request, { headers }), await send(request, { headers })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });

  test("requires a reason that may be stored, and a time within one day: 422", async () => {
    const clinic = await fullClinic();
    const { reason: _, ...without } = await overbooking(clinic);
    expectRefusal(await send(without), 422, ["reason REQUIRED"]);
    const said = "Su contraseña es Colombia2020*";
    expectRefusal(await send(await overbooking(clinic, { reason: said })), 422, ["reason CONTAINS_CREDENTIAL"]);
    const late = await overbooking(clinic, { startsAt: at(clinic, "23:50"), durationMinutes: 11 });
    expectRefusal(await send(late), 422, ["durationMinutes INVALID_RANGE"]);
    const untilMidnight = await overbooking(clinic, { startsAt: at(clinic, "23:50"), durationMinutes: 10 });
    expect(times(appointmentIn(await send(untilMidnight)))).toEqual(["04:50", "05:00"]);
    const practitionerId = await fixtures.practitioner.create(service, {});
    expectRefusal(await send(await overbooking(clinic, { practitionerId })), 422, ["practitionerId INVALID_VALUE"]);
  });

  test("returns the same answer for another tenant's program and an unknown one: 404", async () => {
    const request = await overbooking(await fullClinic());
    const ids = ["patientId", "programId", "practitionerId", "serviceId", "requestSourceId", "appointmentTypeId"];
    const absent = { ...request, ...Object.fromEntries(ids.map((id) => [id, randomUUID()])) };
    const [never, foreign] = [await send(absent), await send(request, { as: { tenantId: randomUUID() } })];
    expect([foreign.status, foreign.body["errors"]]).toEqual([404, never.body["errors"]]);
  });
});

describe("an overbooked appointment", () => {
  test("takes its slot with it when it is cancelled, and leaves the daily count unchanged", async () => {
    const clinic = await fullClinic();
    const { appointmentId } = appointmentIn(await send(await overbooking(clinic)));
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
    expect(await countsOf(service, clinic)).toEqual({ counted: 1, beside: 0 });
  });

  test("removes its time from options, and restores it when it is cancelled", async () => {
    const clinic = await openClinic(service);
    appointmentIn(await send(await overbooking(clinic, { startsAt: at(clinic, "09:10"), durationMinutes: 30 })));
    const patientId = await fixtures.createPatient(service);
    const starts = (await optionsFor(clinic, { patientId })).map(({ startsAt }) => startsAt.slice(11, 16));
    expect(starts).toEqual(["13:00", "13:30", "15:00", "15:30", "16:00", "16:30"]);
  });

  test("stays unchanged when rules change, and is displaced when its practitioner leaves the program", async () => {
    const clinic = await fullClinic();
    const { appointmentId } = appointmentIn(await send(await overbooking(clinic)));
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, startsAtLocal: "10:00" });
    const details = async () => (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"];
    expect(await details()).toMatchObject({ displaced: false, overbooked: true });
    await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
    expect(await details()).toMatchObject({ displaced: true });
  });

  test("is rescheduled over REST into an ordinary slot, where it uses daily capacity, and keeps its reason", async () => {
    const clinic = await fullClinic();
    const { appointmentId } = appointmentIn(await send(await overbooking(clinic, { durationMinutes: 50 })));
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const [option] = await optionsFor(clinic, { appointmentId, ...dates });
    const body = { optionToken: `${option?.optionToken}`, expectedVersion: 1 };
    const moved = await service.request("POST", `/appointments/${appointmentId}/reschedule`, { body });
    expect([moved.status, ...times(moved.body as never)]).toEqual([200, "13:00", "14:00"]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ overbooked: false, overbookingReason: reason });
    expect(await countsOf(service, clinic)).toEqual({ counted: 2, beside: 0 });
  });
});

/** Opens a clinic with a daily capacity of one, and books the first slot of the day after tomorrow. */
async function fullClinic(as = {}): Promise<Clinic> {
  const clinic = await openClinic(service, { as, rule: { dailyCapacity: 1 } });
  await bookFirst(clinic, await fixtures.createPatient(service, {}, as));
  return clinic;
}

async function overbooking(clinic: Clinic, changes: JsonObject = {}): Promise<JsonObject> {
  return { ...(await timedBooking(clinic)), reason, ...changes };
}

function send(request: JsonObject, changes: RpcChanges = {}) {
  return callRpc(service, overbookAppointment, request, changes);
}

function times({ startsAt, endsAt }: { readonly startsAt: string; readonly endsAt: string }): string[] {
  return [startsAt.slice(11, 16), endsAt.slice(11, 16)];
}

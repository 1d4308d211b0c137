import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, bookFirst, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { itemsOf, messagesOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { lateVisit, type Morning, openMorning } from "./late-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { countsOf } from "./timed-bookings.js";

const { enterLateVisit } = BookingService.method;

let service: TestService;
let morning: Morning;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  morning = await openMorning(service);
  morning.goTo("12:30");
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("EnterLateVisit", () => {
  test("takes the past slot, and shows the visit as attended and late", async () => {
    const answer = await enter();
    const appointment = appointmentIn(answer);
    expect(appointment).toMatchObject({ status: "ATTENDED", version: 3, lateEntry: true, overbooked: false });
    expect(appointment).toMatchObject({ startsAt: morning.at("08:00"), endsAt: morning.at("08:30") });
    expect(await countsOf(service, morning.clinic)).toEqual({ counted: 1, beside: 0 });
    const rows = await auditOf(service, answer);
    expect(rows.map(({ action, resource_version }) => [action, resource_version])).toEqual([
      ["CREATE", 1],
      ["UPDATE", 2],
      ["UPDATE", 3],
    ]);
  });

  test("has the ordinary steps in the history, with the given times beside the time of recording", async () => {
    const { appointmentId } = appointmentIn(await enter());
    const changes = await changesOf(appointmentId);
    expect(changes.map(({ toStatus, happenedAt }) => [toStatus, happenedAt])).toEqual([
      ["CONFIRMED", morning.at("07:50")],
      ["CHECKED_IN", morning.at("07:50")],
      ["ATTENDED", morning.at("08:05")],
    ]);
    const recorded = { changedAt: morning.at("12:30"), correctionReason: morning.reason };
    expect(changes).toMatchObject([recorded, recorded, recorded]);
  });

  test("enters an arrival alone, or a no-show with its reason, which takes no slot and no capacity", async () => {
    const arrived = appointmentIn(await enter({ attendedAt: undefined as never }));
    expect(arrived).toMatchObject({ status: "CHECKED_IN", version: 2 });
    const missed = appointmentIn(await enter({ ...(await noShow("08:20")), comment: "No contestó." }));
    expect(missed).toMatchObject({ status: "NO_SHOW", version: 2, comment: "No contestó.", lateEntry: true });
    expect(await countsOf(service, morning.clinic)).toEqual({ counted: 1, beside: 0 });
  });

  test("gets a slot of its own if the patient was busy only at the end of a slot that is longer than the visit", async () => {
    const patientId = await fixtures.createPatient(service);
    const { programId, serviceId, practitionerIds } = await openClinic(service);
    const elsewhere = { programId, serviceId, practitionerId: `${practitionerIds[0]}`, durationMinutes: 20 };
    const at = morning.at("08:20");
    appointmentIn(await enter({ ...elsewhere, patientId, startsAt: at, arrivedAt: at, attendedAt: at }));
    const visit = appointmentIn(await enter({ patientId, durationMinutes: 20 }));
    expect(visit).toMatchObject({ overbooked: true, startsAt: morning.at("08:00"), endsAt: at });
  });

  test("gets a slot of its own where the schedule has none, or no capacity", async () => {
    const beside = appointmentIn(await enter({ startsAt: morning.at("08:10"), durationMinutes: 20 }));
    expect(beside).toMatchObject({ overbooked: true, overbookingReason: morning.reason, displaced: false });
    expect(beside).toMatchObject({ startsAt: morning.at("08:10"), endsAt: morning.at("08:30") });
    const full = await openMorning(service, {}, { dailyCapacity: 1 });
    full.goTo("12:30");
    appointmentIn(await call(full.clinic, "EnterLateVisit", await lateVisit(full)));
    const later = { startsAt: full.at("09:00"), arrivedAt: full.at("09:00"), attendedAt: full.at("09:00") };
    appointmentIn(await call(full.clinic, "EnterLateVisit", await lateVisit(full, later)));
    expect(await countsOf(service, full.clinic)).toEqual({ counted: 1, beside: 1 });
  });

  test("awaits no decision of staff under a block", async () => {
    morning.goTo("07:30");
    const block = { practitionerId: `${morning.clinic.practitionerIds[0]}`, kind: "ILLNESS" };
    const [startsAt, endsAt] = [morning.at("08:00"), morning.at("12:00")];
    await mustCall(morning.clinic, "CreateScheduleBlock", { ...block, startsAt, endsAt });
    morning.goTo("12:30");
    const accepted = { displaced: true, displacedBy: "BLOCK", displacementAccepted: true };
    expect(appointmentIn(await enter())).toMatchObject(accepted);
  });

  test("takes no free slot of the future", async () => {
    morning.goTo("09:45");
    const patientId = await fixtures.createPatient(service);
    const today = { dateFrom: day(morning.clinic, 0), dateTo: day(morning.clinic, 0) };
    const before = await optionsFor(morning.clinic, { patientId, ...today });
    expectRefusal(await enter({ startsAt: morning.at("09:30") }), 422, ["startsAt OUT_OF_RANGE"]);
    const seen = { arrivedAt: morning.at("09:10"), attendedAt: morning.at("09:15") };
    appointmentIn(await enter({ startsAt: morning.at("09:15"), ...seen }));
    const after = await optionsFor(morning.clinic, { patientId, ...today });
    expect(after.map(({ startsAt }) => startsAt)).toEqual(before.map(({ startsAt }) => startsAt));
  });

  test("counts the wait until the day of the visit, and closes the waitlist entry that it served", async () => {
    const { serviceId } = morning.clinic;
    const { patientId, waitlistEntryId } = await waiting(serviceId);
    morning.goTo("12:30", 2);
    const appointment = appointmentIn(await enter({ patientId, waitlistEntryId }));
    expect(appointment).toMatchObject({ requestedOn: morning.at("08:00").slice(0, 10), firstVisit: true });
    const { waitlistEntry } = await mustCall(morning.clinic, "GetWaitlistEntry", { waitlistEntryId });
    expect(waitlistEntry).toMatchObject({ status: "CLOSED" });
    const [row] = await service.query(
      `SELECT assigned_on::text FROM appointments WHERE id = '${appointment.appointmentId}'`,
    );
    expect(row).toEqual({ assigned_on: morning.at("08:00").slice(0, 10) });
  });

  test("counts no wait after the visit, although the waitlist entry that it served was created later", async () => {
    morning.goTo("12:30", 2);
    const { patientId, waitlistEntryId } = await waiting(morning.clinic.serviceId);
    const appointment = appointmentIn(await enter({ patientId, waitlistEntryId }));
    expect(appointment).toMatchObject({ requestedOn: morning.at("08:00").slice(0, 10) });
  });

  test("is not bound by the limits of the tenant for bookings", async () => {
    const as = { tenantId: randomUUID() };
    const own = await openMorning(service, as);
    const settings = { maxAppointmentsPerServiceAndDay: 1, expectedVersion: 1 };
    await mustCall(own.clinic, "UpdateTenantSettings", settings);
    own.goTo("12:30");
    const desk = { ...own.clinic, as: { ...as, scopes: ["scheduling:enter-late"] } };
    const patientId = await fixtures.createPatient(service, {}, as);
    appointmentIn(await call(desk, "EnterLateVisit", await lateVisit(own, { patientId })));
    const next = { startsAt: own.at("08:30"), arrivedAt: own.at("08:30"), attendedAt: own.at("08:30") };
    appointmentIn(await call(desk, "EnterLateVisit", await lateVisit(own, { patientId, ...next })));
  });

  test("enters once if the request is repeated with its key", async () => {
    const request = await lateVisit(morning);
    const headers = { "idempotency-key": randomUUID() };
    const send = () => callRpc(service, enterLateVisit, request, { headers });
    const answers = [await send(), await send()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });
});

describe("EnterLateVisit answers 422", () => {
  test("to times that are in the future, on another day, or not in order, and names each", async () => {
    const future = { arrivedAt: morning.at("12:31"), attendedAt: morning.at("08:00", 1) };
    expectRefusal(await enter(future), 422, ["arrivedAt OUT_OF_RANGE", "attendedAt OUT_OF_RANGE"]);
    const disordered = { arrivedAt: morning.at("08:10"), attendedAt: morning.at("08:09") };
    expectRefusal(await enter(disordered), 422, ["attendedAt INVALID_RANGE"]);
    expectRefusal(await enter({ startsAt: morning.at("08:00").replace("00.000Z", "01.000Z") }), 422, [
      "startsAt OUT_OF_RANGE",
    ]);
  });

  test("unless exactly one of an arrival and a no-show is given, the latter with its reason", async () => {
    const { noShowReasonId } = await noShow("08:20");
    const none = { arrivedAt: undefined as never, attendedAt: undefined as never };
    expectRefusal(await enter(none), 422, ["noShowAt INVALID_VALUE"]);
    expectRefusal(await enter({ arrivedAt: undefined as never }), 422, [
      "arrivedAt REQUIRED",
      "noShowAt INVALID_VALUE",
    ]);
    expectRefusal(await enter({ noShowReasonId }), 422, ["noShowReasonId INVALID_VALUE"]);
    expectRefusal(await enter({ ...none, noShowAt: morning.at("08:20") }), 422, ["noShowReasonId INVALID_VALUE"]);
  });

  test("without a reason, and to one with a credential", async () => {
    expectRefusal(await enter({ reason: undefined as never }), 422, ["reason REQUIRED"]);
    expectRefusal(await enter({ reason: "Su contraseña es Colombia2020*" }), 422, ["reason CONTAINS_CREDENTIAL"]);
  });

  test("to a practitioner who does not work in the program", async () => {
    const practitionerId = await fixtures.practitioner.create(service, {});
    expectRefusal(await enter({ practitionerId }), 422, ["practitionerId INVALID_VALUE"]);
  });
});

describe("EnterLateVisit answers 404", () => {
  test("to unknown references, and names each", async () => {
    const ids = ["patientId", "programId", "practitionerId", "serviceId", "requestSourceId", "appointmentTypeId"];
    const unknown = Object.fromEntries(ids.map((id) => [id, randomUUID()]));
    const answer = await enter(unknown);
    expect(answer.status).toBe(404);
    expect(new Set(itemsOf(answer))).toEqual(new Set(ids.map((id) => `${id} NOT_FOUND`)));
    expectRefusal(await enter({ ...(await noShow("08:20")), noShowReasonId: randomUUID() }), 404, [
      "noShowReasonId NOT_FOUND",
    ]);
  });
});

describe("EnterLateVisit answers 409", () => {
  test("if the practitioner or the patient has another appointment at that time, and names both", async () => {
    const patientId = await fixtures.createPatient(service);
    appointmentIn(await enter({ patientId }));
    const overlap = { patientId, startsAt: morning.at("08:10") };
    expectRefusal(await enter(overlap), 409, ["startsAt SLOT_OCCUPIED", "startsAt PATIENT_OVERLAP"]);
    const other = await openClinic(service);
    const elsewhere = { ...overlap, programId: other.programId, practitionerId: `${other.practitionerIds[0]}` };
    const request = { ...elsewhere, serviceId: other.serviceId };
    expectRefusal(await enter(request), 409, ["startsAt PATIENT_OVERLAP"]);
  });

  test("but enters a no-show whose slot another patient took", async () => {
    appointmentIn(await enter());
    expect(appointmentIn(await enter(await noShow("08:20")))).toMatchObject({ status: "NO_SHOW", overbooked: false });
  });

  test("to two visits at once of which only one has the time", async () => {
    const requests = [await lateVisit(morning), await lateVisit(morning, { startsAt: morning.at("08:10") })];
    const answers = await Promise.all(requests.map((request) => call(morning.clinic, "EnterLateVisit", request)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  test("to steps before the earliest time of the tenant, judged at the given times", async () => {
    const early = { arrivedAt: morning.at("03:59"), attendedAt: morning.at("06:59") };
    expectRefusal(await enter(early), 409, ["arrivedAt TOO_EARLY", "attendedAt TOO_EARLY"]);
    expectRefusal(await enter(await noShow("08:14")), 409, ["noShowAt TOO_EARLY"]);
    appointmentIn(await enter(await noShow("08:15")));
  });

  test("to a visit of more than seven days ago, or of what the tenant set; 0 allows none", async () => {
    const as = { tenantId: randomUUID() };
    const own = await openMorning(service, as);
    const enterOwn = async () => call(own.clinic, "EnterLateVisit", await lateVisit(own));
    own.goTo("00:00", 8);
    const late = await enterOwn();
    expectRefusal(late, 409, ["startsAt TOO_LATE"]);
    const earliest = own.at("00:00", -1).slice(0, 10);
    expect(messagesOf(late)).toEqual([`the tenant allows late entries from ${earliest} on (lateEntryDays)`]);
    const unknown = { ...(await lateVisit(own)), patientId: randomUUID() };
    expectRefusal(await call(own.clinic, "EnterLateVisit", unknown), 404, ["patientId NOT_FOUND"]);
    own.goTo("23:59", 7);
    appointmentIn(await enterOwn());
    await mustCall(own.clinic, "UpdateTenantSettings", { lateEntryDays: 1, expectedVersion: 1 });
    own.goTo("00:00", 2);
    expectRefusal(await enterOwn(), 409, ["startsAt TOO_LATE", "startsAt SLOT_OCCUPIED"]);
    await mustCall(own.clinic, "UpdateTenantSettings", { lateEntryDays: 0, expectedVersion: 2 });
    own.goTo("12:30");
    const none = await enterOwn();
    expectRefusal(none, 409, ["startsAt TOO_LATE", "startsAt SLOT_OCCUPIED"]);
    expect(messagesOf(none)[0]).toBe("the tenant allows no late entries (lateEntryDays)");
  });

  test("to a patient who is not active", async () => {
    const patientId = await fixtures.createPatient(service);
    await mustCall(morning.clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await enter({ patientId }), 409, ["patientId PATIENT_NOT_ACTIVE"]);
  });
});

describe("a visit that was entered late", () => {
  test("can be corrected like any other, and stays marked", async () => {
    const { appointmentId } = appointmentIn(await enter());
    const correction = { appointmentId, expectedVersion: 3, status: "CHECKED_IN", reason: "Se fue sin ser atendida." };
    const { appointment } = await mustCall(morning.clinic, "CorrectAppointmentStatus", correction);
    expect(appointment).toMatchObject({ status: "CHECKED_IN", lateEntry: true });
    const changes = await changesOf(appointmentId);
    expect(changes[3]).not.toHaveProperty("happenedAt");
  });

  test("is no late entry if it was booked in time", async () => {
    morning.goTo("07:30");
    const today = { dateFrom: day(morning.clinic, 0), dateTo: day(morning.clinic, 0) };
    const booked = await bookFirst(morning.clinic, await fixtures.createPatient(service), today);
    expect(booked).toMatchObject({ lateEntry: false });
  });
});

async function enter(changes: JsonObject = {}) {
  const request = await lateVisit(morning, changes);
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return call(morning.clinic, "EnterLateVisit", Object.fromEntries(given));
}

async function noShow(time: string) {
  return { noShowAt: morning.at(time), noShowReasonId: await fixtures.noShowReason.create(service, {}) };
}

async function waiting(serviceId: string) {
  const desk = deskFixtures(service);
  const patientId = await desk.patient();
  return { patientId, waitlistEntryId: await desk.entry({ patientId, serviceId }) };
}

async function changesOf(appointmentId: string): Promise<JsonObject[]> {
  const { changes } = await mustCall(morning.clinic, "ListAppointmentChanges", { appointmentId });
  return changes as JsonObject[];
}

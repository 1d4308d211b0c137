import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import type { AppointmentBody } from "../schedule/clinic.js";
import { bookFirst, type Clinic, call, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { expectProblem, messagesOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

const DESK = ["scheduling:read", "scheduling:write", "appointments:reschedule"];
const HOUR_MS = 3_600_000;
const TOO_LATE = ["appointmentId TOO_LATE"];

let service: TestService;
/** As a supervisor, with every scope. */
let clinic: Clinic;
let desk: Clinic;
let appointment: AppointmentBody;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  const as = { tenantId: randomUUID() };
  clinic = await openClinic(service, { as });
  desk = { ...clinic, as: { ...as, scopes: DESK } };
  appointment = await bookFirst(clinic, await fixtures.createPatient(service, {}, as));
});

afterAll(() => closeConsistent(service));

describe("a cancellation", () => {
  test("is too late after the hours that the tenant sets, which the error states", async () => {
    await set({ latestCancelHours: 24 });
    at(-24 * HOUR_MS + 1);
    const answer = await cancel(desk);
    expectRefusal(answer, 409, TOO_LATE);
    const latest = new Date(Date.parse(appointment.startsAt) - 24 * HOUR_MS).toISOString().replace(".000Z", "Z");
    expect(messagesOf(answer).join()).toContain(latest);
    service.stopAt(Date.parse(latest));
    expect((await cancel(desk)).status).toBe(200);
  });

  test("is in time until then, and without the setting at any time", async () => {
    at(-2 * HOUR_MS);
    await set({ latestCancelHours: 1 });
    expect((await cancel(desk)).status).toBe(200);
    const other = await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    await set({ updateMask: "latestCancelHours" }, 2);
    service.advance(Date.parse(other.startsAt) - service.now() + 60_000);
    expect((await cancel(desk, other)).status).toBe(200);
  });

  test("is never too late for a supervisor", async () => {
    await set({ latestCancelHours: 720 });
    expect((await cancel(clinic)).status).toBe(200);
  });

  test("is never too late if the clinic displaced the appointment, or the patient is there", async () => {
    await set({ latestCancelHours: 720 });
    const other = await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    at(-HOUR_MS);
    await mustCall(clinic, "CheckInAppointment", { appointmentId: other.appointmentId, expectedVersion: 1 });
    expect((await cancel(desk, { ...other, version: 2 })).status).toBe(200);
    await displace();
    expect((await cancel(desk)).status).toBe(200);
  });
});

describe("a reschedule", () => {
  test("is too late after the hours that the tenant sets, except for a supervisor", async () => {
    const [option] = await optionsFor(clinic, { appointmentId: appointment.appointmentId });
    await set({ latestRescheduleHours: 720 });
    expectProblem(await move(desk, `${option?.optionToken}`), 409, TOO_LATE);
    expect((await move(clinic, `${option?.optionToken}`)).status).toBe(200);
  });

  test("cannot be held when it is too late, except by a supervisor", async () => {
    await set({ latestRescheduleHours: 720 });
    const { appointmentId } = appointment;
    const [option] = await optionsFor(clinic, { appointmentId });
    const request = { optionToken: `${option?.optionToken}`, minutes: 5 };
    expectRefusal(await call(desk, "HoldAppointmentOption", request), 409, ["optionToken TOO_LATE"]);
    expect((await call(clinic, "HoldAppointmentOption", request)).status).toBe(200);
  });

  test("is never too late if the clinic displaced the appointment", async () => {
    await set({ latestRescheduleHours: 720 });
    await displace();
    const { startsAt } = appointment;
    const options = await optionsFor(clinic, { appointmentId: appointment.appointmentId });
    const option = options.find((each) => each.startsAt > startsAt);
    expect((await move(desk, `${option?.optionToken}`)).status).toBe(200);
  });
});

describe("the windows of the steps of a visit", () => {
  test("are those of the service until the tenant sets its own, and again when it removes them", async () => {
    const defaults = { checkInEarlyMinutes: 240, attendedEarlyMinutes: 60, noShowGraceMinutes: 15 };
    expect(await settings()).toMatchObject(defaults);
    const own = { checkInEarlyMinutes: 30, attendedEarlyMinutes: 0, noShowGraceMinutes: 60 };
    await set(own);
    expect(await settings()).toMatchObject(own);
    await set({ updateMask: "checkInEarlyMinutes,attendedEarlyMinutes,noShowGraceMinutes" }, 2);
    expect(await settings()).toMatchObject(defaults);
  });

  test("limit check-in and attendance", async () => {
    await set({ checkInEarlyMinutes: 30, attendedEarlyMinutes: 10 });
    at(-31 * 60_000);
    const { appointmentId } = appointment;
    const checkIn = () => call(desk, "CheckInAppointment", { appointmentId, expectedVersion: 1 });
    expectRefusal(await checkIn(), 409, ["appointmentId TOO_EARLY"]);
    at(-30 * 60_000);
    expect((await checkIn()).status).toBe(200);
    const attend = () => call(desk, "MarkAppointmentAttended", { appointmentId, expectedVersion: 2 });
    expectRefusal(await attend(), 409, ["appointmentId TOO_EARLY"]);
    at(-10 * 60_000);
    expect((await attend()).status).toBe(200);
  });

  test("limit no-shows", async () => {
    await set({ noShowGraceMinutes: 60 });
    const noShowReasonId = await fixtures.noShowReason.create(service, clinic.as);
    const { appointmentId } = appointment;
    const miss = () => call(desk, "MarkAppointmentNoShow", { appointmentId, noShowReasonId, expectedVersion: 1 });
    at(59 * 60_000);
    expectRefusal(await miss(), 409, ["appointmentId TOO_EARLY"]);
    at(60 * 60_000);
    expect((await miss()).status).toBe(200);
  });
});

async function set(request: JsonObject, expectedVersion = 1): Promise<void> {
  await mustCall(clinic, "UpdateTenantSettings", { expectedVersion, ...request });
}

async function settings(): Promise<JsonObject> {
  return (await mustCall(clinic, "GetTenantSettings", {}))["tenantSettings"] as JsonObject;
}

/** Moves the clock to a time after the start of the appointment. */
function at(ms: number): void {
  service.advance(Date.parse(appointment.startsAt) + ms - service.now());
}

async function cancel(caller: Clinic, { appointmentId, version } = appointment): Promise<RestAnswer> {
  const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
  return call(caller, "CancelAppointment", { appointmentId, cancellationReasonId, expectedVersion: version });
}

async function move({ as }: Clinic, optionToken: string): Promise<RestAnswer> {
  const body = { optionToken, expectedVersion: 1 };
  const path = `/appointments/${appointment.appointmentId}/reschedule`;
  return service.request("POST", path, { token: await service.token(as), body });
}

/** Blocks the program during the appointment. */
async function displace(): Promise<void> {
  const { startsAt, endsAt } = appointment;
  await mustCall(clinic, "CreateScheduleBlock", { programId: clinic.programId, startsAt, endsAt, kind: "OTHER" });
}

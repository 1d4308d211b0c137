import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  awaitStep,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { holdIn } from "./hold-requests.js";
import { createResource, healthcareService } from "./resources-under-test.js";
import { expectRefusal } from "./rpc-under-test.js";
import { bookedIn, seriesOf } from "./series-requests.js";
import { moveIntoSlot, timedBooking } from "./timed-bookings.js";

const DESK = ["scheduling:read", "scheduling:write", "appointments:reschedule"];
const LIMIT = ["patientId PATIENT_LIMIT"];
const NO_EFFECT = { patientsOverLimitCount: 0, lateCancelCount: 0 };

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
  clinic = await openClinic(service, { as });
  desk = { ...clinic, as: { ...as, scopes: DESK } };
  patientId = await fixtures.createPatient(service, {}, as);
});

afterAll(() => closeConsistent(service));

describe("the appointments ahead of a patient", () => {
  test("are limited in all, for bookings of options and by time", async () => {
    await set({ maxAppointmentsAhead: 1 });
    appointmentIn(await bookOn(2));
    expectRefusal(await bookOn(3), 409, LIMIT);
    const timed = await timedBooking(clinic, { patientId, startsAt: `${day(clinic, 4)}T08:00:00-05:00` });
    expectRefusal(await call(desk, "BookAppointmentAt", timed), 409, LIMIT);
    const other = await fixtures.createPatient(service, {}, clinic.as);
    appointmentIn(await bookOn(2, other));
  });

  test("do not limit a supervisor", async () => {
    await set({ maxAppointmentsAhead: 1 });
    await bookFirst(clinic, patientId);
    appointmentIn(await bookOn(3, patientId, clinic));
  });

  test("are free again after a cancellation, and when an appointment begins", async () => {
    await set({ maxAppointmentsAhead: 1 });
    const first = appointmentIn(await bookOn(2));
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    const { appointmentId } = first;
    await mustCall(clinic, "CancelAppointment", { appointmentId, cancellationReasonId, expectedVersion: 1 });
    const second = appointmentIn(await bookOn(2));
    service.stopAt(Date.parse(second.startsAt) - 1);
    expectRefusal(await bookOn(3), 409, LIMIT);
    service.stopAt(Date.parse(second.startsAt));
    appointmentIn(await bookOn(3));
  });

  test("do not include the first appointment of a series if it has begun", async () => {
    await set({ maxAppointmentsAhead: 1, maxAppointmentsAheadPerService: 1 });
    const startsAt = await moveIntoSlot(clinic, 5);
    const { appointments } = bookedIn(await call(desk, "BookSeries", await seriesOf(clinic, { patientId, startsAt })));
    expect(appointments.map(({ status }) => status)).toEqual(["CONFIRMED", "PENDING"]);
    expectRefusal(await bookOn(3), 409, [...LIMIT, ...LIMIT]);
  });

  test("are limited for each service", async () => {
    await set({ maxAppointmentsAheadPerService: 1 });
    const elsewhere = await openClinic(service, { as: clinic.as });
    appointmentIn(await bookOn(2));
    expectRefusal(await bookOn(3), 409, LIMIT);
    appointmentIn(await bookOn(3, patientId, { ...elsewhere, as: desk.as }));
  });

  test("are limited when two calls book at the same time", async () => {
    await set({ maxAppointmentsAhead: 1 });
    const answers = await Promise.all([bookOn(2), bookOn(3), bookOn(4)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });
});

describe("the appointments of a patient for a service on a day", () => {
  test("are limited, also when one is moved there from another day", async () => {
    await set({ maxAppointmentsPerServiceAndDay: 1 });
    const moving = appointmentIn(await bookOn(2));
    appointmentIn(await bookOn(3));
    expectRefusal(await bookOn(3), 409, LIMIT);
    expectProblem(await move(moving, 3), 409, ["optionToken PATIENT_LIMIT"]);
    expect((await move(moving, 2)).status).toBe(200);
    expect((await move({ ...moving, version: 2 }, 4)).status).toBe(200);
  });

  test("do not limit the move of one for another service to that day", async () => {
    const serviceId = (await createResource(service, healthcareService, {}, clinic.as)).id;
    const serviceIds = [clinic.serviceId, serviceId];
    await mustCall(clinic, "ReplaceProgramServices", { programId: clinic.programId, serviceIds, expectedVersion: 2 });
    await set({ maxAppointmentsPerServiceAndDay: 1 });
    const moving = appointmentIn(await bookOn(2));
    const { appointmentId } = appointmentIn(await bookOn(3));
    await mustCall(clinic, "ChangeAppointment", { appointmentId, serviceId, expectedVersion: 1 });
    expect((await move(moving, 3)).status).toBe(200);
  });

  test("are not named for an option that is gone: 410", async () => {
    await set({ maxAppointmentsPerServiceAndDay: 1 });
    const moving = appointmentIn(await bookOn(2));
    appointmentIn(await bookOn(3));
    const optionToken = await tokenOn(3, { appointmentId: moving.appointmentId });
    await service.query(`UPDATE programs SET emergency = NOT emergency WHERE id = '${clinic.programId}'`);
    expectProblem(await take(optionToken, moving), 410);
  });

  test("count an appointment that has begun", async () => {
    await set({ maxAppointmentsPerServiceAndDay: 1 });
    const { startsAt } = appointmentIn(await bookOn(2));
    service.advance(Date.parse(startsAt) - service.now());
    const { patientId: _, ...today } = await timedBooking(clinic, { startsAt: `${day(clinic, 0)}T11:00:00-05:00` });
    expectRefusal(await call(desk, "BookAppointmentAt", { ...today, patientId }), 409, LIMIT);
  });
});

describe("a patient with too many no-shows", () => {
  test("is booked by a supervisor only, until a year has passed", async () => {
    await set({ supervisedAfterNoShows: 1 });
    const missed = appointmentIn(await bookOn(1));
    awaitStep(clinic, "MarkAppointmentNoShow", missed);
    const noShowReasonId = await fixtures.noShowReason.create(service, clinic.as);
    const step = { appointmentId: missed.appointmentId, noShowReasonId, expectedVersion: 1 };
    await mustCall(clinic, "MarkAppointmentNoShow", step);
    expectRefusal(await bookOn(2), 409, ["patientId SUPERVISOR_REQUIRED"]);
    expectRefusal(await holdOn(desk, 2), 409, ["optionToken SUPERVISOR_REQUIRED"]);
    const series = await seriesOf(clinic, { patientId });
    expectRefusal(await call(desk, "BookSeries", series), 409, ["occurrences[0] SUPERVISOR_REQUIRED"]);
    appointmentIn(await bookOn(2, patientId, clinic));
    const [starts, ends] = [missed.startsAt, missed.endsAt].map(
      (time) => `timestamptz '${time}' - interval '365 days'`,
    );
    await service.query(`UPDATE appointments SET starts_at = ${starts}, ends_at = ${ends}, local_date = local_date - 365
      WHERE tenant_id = '${clinic.as.tenantId}' AND id = '${missed.appointmentId}'`);
    service.stopAt(Date.parse(missed.startsAt) - 1);
    expectRefusal(await bookOn(3), 409, ["patientId SUPERVISOR_REQUIRED"]);
    service.stopAt(Date.parse(missed.startsAt));
    appointmentIn(await bookOn(3));
  });
});

describe("a hold", () => {
  test("is limited like a booking, but not for a supervisor", async () => {
    await set({ maxAppointmentsAhead: 1 });
    appointmentIn(await bookOn(2));
    expectRefusal(await holdOn(desk, 3), 409, ["optionToken PATIENT_LIMIT"]);
    expect((await holdOn(clinic, 3)).status).toBe(200);
  });

  test("to move an appointment is limited by the appointments of the day", async () => {
    await set({ maxAppointmentsPerServiceAndDay: 1 });
    const { appointmentId } = appointmentIn(await bookOn(2));
    appointmentIn(await bookOn(3));
    expectRefusal(await holdOn(desk, 3, { appointmentId }), 409, ["optionToken PATIENT_LIMIT"]);
    expect((await holdOn(desk, 4, { appointmentId })).status).toBe(200);
  });

  test("takes an alternative on a day without the limit, but supervisors keep the first option", async () => {
    await set({ maxAppointmentsPerServiceAndDay: 1 });
    const moving = appointmentIn(await bookOn(2));
    appointmentIn(await bookOn(3));
    const booked = appointmentIn(await bookOn(5));
    const { appointmentId } = moving;
    await bookOn(4, await fixtures.createPatient(service, {}, clinic.as));
    const cancelled = appointmentIn(await bookOn(4)).appointmentId;
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    await mustCall(clinic, "CancelAppointment", { appointmentId: cancelled, cancellationReasonId, expectedVersion: 1 });
    const heldDay = async (caller: Clinic, days: number, subject: JsonObject = { patientId }) => {
      const request = {
        optionToken: await tokenOn(days, subject),
        alternativeOptionTokens: [await tokenOn(4, subject)],
      };
      const answer = await call(caller, "HoldAppointmentOption", request);
      const { holdId, startsAt } = holdIn(answer);
      await mustCall(clinic, "ReleaseHold", { holdId });
      return startsAt.slice(0, 10);
    };
    expect(await heldDay(desk, 5)).toBe(day(clinic, 4));
    expect(await heldDay(desk, 3, { appointmentId })).toBe(day(clinic, 4));
    expect(await heldDay(desk, 2, { appointmentId })).toBe(day(clinic, 2));
    expect(await heldDay(clinic, 5)).toBe(booked.startsAt.slice(0, 10));
  });
});

test("a move leaves a freed slot to the waitlist only if the tenant offers freed slots", async () => {
  const moving = appointmentIn(await bookOn(2));
  const freed = () => service.query(`SELECT FROM freed_slots WHERE tenant_id = '${clinic.as.tenantId}'`);
  expect([(await move(moving, 3)).status, await freed()]).toEqual([200, []]);
  await set({ maxAppointmentsAhead: 9 });
  expect([(await move({ ...moving, version: 2 }, 4)).status, await freed()]).toEqual([200, []]);
  await set({ freedSlotOfferMinutes: 30, expectedVersion: 2 });
  expect([(await move({ ...moving, version: 3 }, 5)).status, (await freed()).length]).toEqual([200, 1]);
});

describe("the preview of limits", () => {
  test("counts appointments that would become too late to change, and patients with too many", async () => {
    const [{ startsAt }] = [
      appointmentIn(await bookOn(1)),
      appointmentIn(await bookOn(2)),
      appointmentIn(await bookOn(3)),
    ];
    expect(await preview({ latestCancelHours: 100, latestRescheduleHours: 30 })).toMatchObject({
      lateCancelCount: 3,
      lateRescheduleCount: 1,
      patientsOverLimitCount: 0,
    });
    expect(await preview({ maxAppointmentsAhead: 2 })).toMatchObject({ patientsOverLimitCount: 1 });
    expect(await preview({ maxAppointmentsAheadPerService: 3 })).toMatchObject({ patientsOverLimitCount: 0 });
    expect(await preview({ maxAppointmentsPerServiceAndDay: 1 })).toMatchObject({ patientsOverLimitCount: 0 });
    const both = { maxAppointmentsAhead: 2, maxAppointmentsAheadPerService: 2 };
    expect(await preview(both)).toMatchObject({ patientsOverLimitCount: 1 });
    service.stopAt(Date.parse(startsAt) - 24 * 3_600_000);
    expect(await preview({ latestCancelHours: 24 })).toMatchObject({ lateCancelCount: 0 });
    service.stopAt(service.now() + 1);
    expect(await preview({ latestCancelHours: 24 })).toMatchObject({ lateCancelCount: 1 });
    service.stopAt(Date.parse(startsAt));
    expect(await preview({ maxAppointmentsAhead: 2, latestCancelHours: 1 })).toMatchObject(NO_EFFECT);
  });

  test("does not count displaced appointments as too late, because they can always be changed", async () => {
    const [{ startsAt, endsAt }] = [appointmentIn(await bookOn(1)), appointmentIn(await bookOn(2))];
    await mustCall(clinic, "CreateScheduleBlock", { programId: clinic.programId, startsAt, endsAt, kind: "OTHER" });
    expect(await preview({ latestCancelHours: 100, latestRescheduleHours: 100 })).toMatchObject({
      lateCancelCount: 1,
      lateRescheduleCount: 1,
    });
  });
});

async function set(request: JsonObject): Promise<void> {
  await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 1, ...request });
}

/** Books the first option of a day, at the desk by default. */
async function bookOn(days: number, patient = patientId, caller = desk): Promise<RestAnswer> {
  const date = day(clinic, days);
  const [option] = await optionsFor(caller, { patientId: patient, dateFrom: date, dateTo: date });
  return book(caller, patient, `${option?.optionToken}`);
}

/** Holds the first option of a day for the patient, or to move an appointment. */
async function holdOn(caller: Clinic, days: number, subject: JsonObject = { patientId }): Promise<RestAnswer> {
  return call(caller, "HoldAppointmentOption", { optionToken: await tokenOn(days, subject, caller), minutes: 5 });
}

async function move(appointment: AppointmentBody, days: number): Promise<RestAnswer> {
  return take(await tokenOn(days, { appointmentId: appointment.appointmentId }), appointment);
}

/** The token of the first option of a day. */
async function tokenOn(days: number, subject: JsonObject, caller = desk): Promise<string> {
  const date = day(clinic, days);
  const [option] = await optionsFor(caller, { ...subject, dateFrom: date, dateTo: date });
  return `${option?.optionToken}`;
}

async function take(optionToken: string, { appointmentId, version }: AppointmentBody): Promise<RestAnswer> {
  const body = { optionToken, expectedVersion: version };
  return service.request("POST", `/appointments/${appointmentId}/reschedule`, {
    token: await service.token(desk.as),
    body,
  });
}

async function preview(request: JsonObject): Promise<JsonObject> {
  return (await mustCall(clinic, "PreviewTenantSettingsChange", request))["tenantSettingsPreview"] as JsonObject;
}

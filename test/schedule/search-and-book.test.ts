import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cutPage } from "../../src/services/resources/pages.js";
import * as fixtures from "../contract/fixtures.js";
import { summaryOf } from "../contract/send.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import {
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
  search,
} from "./clinic.js";
import { closeConsistent } from "./invariants.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service));

describe("a search", () => {
  test("finds the free slots of the day in order, each with a short token of its own", async () => {
    const [clinic, patientId] = await prepare();
    const options = await optionsFor(clinic, { patientId });
    expect(options.map(({ startsAt }) => startsAt.slice(11, 16))).toEqual([
      "13:00",
      "13:30",
      "14:00",
      "14:30",
      "15:00",
      "15:30",
      "16:00",
      "16:30",
    ]);
    expect(new Set(options.map(({ optionToken }) => optionToken)).size).toBe(8);
    for (const { optionToken } of options) expect(optionToken.length).toBeLessThanOrEqual(400);
  });

  test("excludes a day whose capacity is exhausted", async () => {
    const [clinic, patientId] = await prepare({ dailyCapacity: 1 });
    await bookFirst(clinic, await fixtures.createPatient(service));
    expect(await optionsFor(clinic, { patientId })).toEqual([]);
    expect(await optionsFor(clinic, { patientId, dateTo: day(clinic, 3) })).toHaveLength(8);
  });

  test("excludes times at which the practitioner or the patient has another appointment", async () => {
    const [clinic, patientId] = await prepare();
    const { practitionerIds } = clinic;
    const colleagues = await openClinic(service, { practitionerIds });
    const others = await openClinic(service);
    await bookFirst(colleagues, await fixtures.createPatient(service));
    await bookFirst(others, patientId, {}, 7);
    const starts = (await optionsFor(clinic, { patientId })).map(({ startsAt }) => startsAt.slice(11, 16));
    expect(starts).toEqual(["13:30", "14:00", "14:30", "15:00", "15:30", "16:00"]);
  });

  test("excludes emergency programs unless the request includes them", async () => {
    const clinic = await openClinic(service, { program: { emergency: true } });
    const patientId = await fixtures.createPatient(service);
    expect(await optionsFor(clinic, { patientId })).toEqual([]);
    expect(await optionsFor(clinic, { patientId, includeEmergency: true })).toHaveLength(8);
  });

  test("excludes inactive programs, locations and practitioners", async () => {
    const [clinic, patientId] = await prepare();
    const [practitionerId] = clinic.practitionerIds;
    for (const [table, id] of [
      ["programs", clinic.programId],
      ["practitioners", `${practitionerId}`],
      ["locations", `${(await optionsFor(clinic, { patientId }))[0]?.locationId}`],
    ]) {
      await service.query(`UPDATE ${table} SET active = false WHERE id = '${id}'`);
      expect(await optionsFor(clinic, { patientId })).toEqual([]);
      await service.query(`UPDATE ${table} SET active = true WHERE id = '${id}'`);
    }
  });

  test("filters by period, location and practitioner", async () => {
    const [clinic, patientId] = await prepare({ endsAtLocal: "14:00:00" });
    expect(await optionsFor(clinic, { patientId, periods: ["AFTERNOON"] })).toHaveLength(4);
    expect(await optionsFor(clinic, { patientId, periods: ["MORNING", "AFTERNOON"] })).toHaveLength(12);
    expect(await optionsFor(clinic, { patientId, periods: ["NIGHT"] })).toEqual([]);
    expect(await optionsFor(clinic, { patientId, locationId: randomUUID() })).toEqual([]);
    expect(await optionsFor(clinic, { patientId, practitionerId: randomUUID() })).toEqual([]);
    expect(await optionsFor(clinic, { patientId, practitionerId: `${clinic.practitionerIds[0]}` })).toHaveLength(12);
  });

  test("returns the same options over several pages, and none in the past", async () => {
    const [clinic, patientId] = await prepare();
    const starts: string[] = [];
    let pageToken = "";
    do {
      const { body } = await search(clinic, { patientId, pageSize: 3, pageToken });
      starts.push(...(body["options"] as { startsAt: string }[]).map(({ startsAt }) => startsAt));
      pageToken = (body["nextPageToken"] as string | undefined) ?? "";
    } while (pageToken !== "");
    expect(starts).toEqual((await optionsFor(clinic, { patientId })).map(({ startsAt }) => startsAt));
    expect(await optionsFor(clinic, { patientId, dateFrom: day(clinic, -9), dateTo: day(clinic, -1) })).toEqual([]);
  });
});

test("a search rejects a page token with a forged position: 422", async () => {
  const [clinic, patientId] = await prepare();
  const criteria = { serviceId: clinic.serviceId, dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
  const filters = [patientId, undefined, ...Object.values(criteria), [], undefined, undefined, false, "patientId"];
  for (const place of ["-271821-04-20T00:00:00.000Z", "2030-01-01T00:00:00.000Z"]) {
    const rows = [place, place];
    const page = { size: 1, after: undefined };
    const { nextPageToken } = cutPage(rows, page, (start) => [start, randomUUID()], "options", filters).next;
    const answer = await search(clinic, { ...criteria, patientId, pageToken: `${nextPageToken}` });
    expectRefusal(answer, 422, ["pageToken INVALID_VALUE"]);
  }
});

describe("booking", () => {
  test("creates a PENDING appointment of version 1, whose slot is no longer offered", async () => {
    const [clinic, patientId] = await prepare();
    const appointment = await bookFirst(clinic, patientId);
    expect(appointment).toMatchObject({ patientId, status: "PENDING", version: 1, displaced: false });
    const left = await optionsFor(clinic, { patientId: await fixtures.createPatient(service) });
    expect(left.map(({ startsAt }) => startsAt)).not.toContain(appointment.startsAt);
  });

  test("lists all unknown ids: 404", async () => {
    const [clinic] = await prepare();
    const absent = { requestSourceId: randomUUID(), appointmentTypeId: randomUUID() };
    expectRefusal(await book(clinic, randomUUID(), "garbage", { ...absent, consultationTypeId: randomUUID() }), 404, [
      "patientId NOT_FOUND",
      "requestSourceId NOT_FOUND",
      "appointmentTypeId NOT_FOUND",
      "consultationTypeId NOT_FOUND",
    ]);
  });

  test("rejects an occupied slot, a full day, an overlap and an inactive patient: 409", async () => {
    const [clinic, patientId] = await prepare({ dailyCapacity: 2 });
    const [first, second, third] = await tokensFor(clinic, patientId);
    await bookFirst(clinic, await fixtures.createPatient(service));
    expectRefusal(await book(clinic, patientId, `${first}`), 409, ["optionToken SLOT_OCCUPIED"]);
    await bookFirst(await openClinic(service), patientId, {}, 1);
    expectRefusal(await book(clinic, patientId, `${second}`), 409, ["optionToken PATIENT_OVERLAP"]);
    await bookFirst(clinic, await fixtures.createPatient(service), {}, 4);
    expectRefusal(await book(clinic, patientId, `${third}`), 409, ["optionToken CAPACITY_EXHAUSTED"]);
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await book(clinic, patientId, `${third}`), 409, [
      "patientId PATIENT_NOT_ACTIVE",
      "optionToken CAPACITY_EXHAUSTED",
    ]);
    expectRefusal(await search(clinic, { patientId }), 409, ["patientId PATIENT_NOT_ACTIVE"]);
  });

  test("rejects a used token, and one whose slot was withdrawn: 410", async () => {
    const [clinic, patientId] = await prepare();
    const [first, second] = await tokensFor(clinic, patientId);
    const { appointmentId: id } = appointmentIn(await book(clinic, patientId, `${first}`));
    await cancel(clinic, id);
    expectRefusal(await book(clinic, patientId, `${first}`), 410);
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, slotDurationMinutes: 60 });
    expectRefusal(await book(clinic, patientId, `${second}`), 410);
  });

  test("rejects an expired token, but not before it expires: 410", async () => {
    const [clinic, patientId] = await prepare();
    const [first, second] = await tokensFor(clinic, patientId);
    service.advance(9 * 60_000);
    appointmentIn(await book(clinic, patientId, `${first}`));
    service.advance(60_000);
    expectRefusal(await book(clinic, patientId, `${second}`), 410);
  });

  test("rejects a malformed token, one of another patient or tenant, and one for rescheduling: 422", async () => {
    const [clinic, patientId] = await prepare();
    const [others] = await tokensFor(clinic, await fixtures.createPatient(service));
    const as = { tenantId: randomUUID() };
    const [foreign] = await tokensFor(await openClinic(service, { as }), await fixtures.createPatient(service, {}, as));
    const { appointmentId } = await bookFirst(clinic, patientId);
    const [toReschedule] = await optionsFor(clinic, { appointmentId });
    for (const token of ["garbage", `${others}`, `${foreign}`, `${toReschedule?.optionToken}`])
      expectRefusal(await book(clinic, patientId, token), 422, ["optionToken INVALID_OPTION"]);
  });

  test("two concurrent bookings in two programs at the same time of a practitioner: one succeeds", async () => {
    const [clinic, patientId] = await prepare();
    const { practitionerIds } = clinic;
    const other = await openClinic(service, { practitionerIds });
    const secondPatient = await fixtures.createPatient(service);
    for (let i = 0; i < 8; i++) {
      const dates = { dateFrom: day(clinic, 3 + i), dateTo: day(clinic, 3 + i) };
      const [[first], [second]] = await Promise.all([
        tokensFor(clinic, patientId, dates),
        tokensFor(other, secondPatient, dates),
      ]);
      const answers = await Promise.all([book(clinic, patientId, `${first}`), book(other, secondPatient, `${second}`)]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    }
  });
});

const STEPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PENDING: {
    ConfirmAppointment: "CONFIRMED",
    CheckInAppointment: "CHECKED_IN",
    MarkAppointmentNoShow: "NO_SHOW",
    CancelAppointment: "CANCELLED",
  },
  CONFIRMED: { CheckInAppointment: "CHECKED_IN", MarkAppointmentNoShow: "NO_SHOW", CancelAppointment: "CANCELLED" },
  CHECKED_IN: { MarkAppointmentAttended: "ATTENDED", CancelAppointment: "CANCELLED" },
  ATTENDED: {},
  CANCELLED: {},
  NO_SHOW: {},
};

const WAYS: Readonly<Record<string, readonly string[]>> = {
  PENDING: [],
  CONFIRMED: ["ConfirmAppointment"],
  CHECKED_IN: ["ConfirmAppointment", "CheckInAppointment"],
  ATTENDED: ["ConfirmAppointment", "CheckInAppointment", "MarkAppointmentAttended"],
  CANCELLED: ["CancelAppointment"],
  NO_SHOW: ["ConfirmAppointment", "MarkAppointmentNoShow"],
};

describe.each(Object.entries(STEPS))("an appointment with status %s", (status, allowed) => {
  test.each([
    "ConfirmAppointment",
    "CheckInAppointment",
    "MarkAppointmentAttended",
    "MarkAppointmentNoShow",
    "CancelAppointment",
  ])("accepts %s only if the specification's transition table allows it", async (rpc) => {
    const [clinic, patientId] = await prepare();
    const appointment = await bookFirst(clinic, patientId);
    const { appointmentId: id } = appointment;
    for (const [i, way] of (WAYS[status] ?? []).entries()) {
      awaitStep(clinic, way, appointment);
      await mustCall(clinic, way, await stepOf(way, id, i + 1));
    }
    const version = 1 + (WAYS[status]?.length ?? 0);
    awaitStep(clinic, rpc, appointment);
    const answer = await call(clinic, rpc, await stepOf(rpc, id, version));
    const to = allowed[rpc];
    if (to === undefined) expectRefusal(answer, 409, ["appointmentId STATE_NOT_ALLOWED"]);
    else expect(appointmentIn(answer)).toMatchObject({ appointmentId: id, status: to, version: version + 1 });
  });
});

function expectRefusal(answer: RestAnswer, status: number, items: readonly string[] = []): void {
  expect(summaryOf(answer)).toBe([status, ...items].join(" "));
}

async function prepare(rule: JsonObject = {}): Promise<[Clinic, string]> {
  return Promise.all([openClinic(service, { rule }), fixtures.createPatient(service)]);
}

async function tokensFor(clinic: Clinic, patientId: string, request: JsonObject = {}): Promise<string[]> {
  return (await optionsFor(clinic, { patientId, ...request })).map(({ optionToken }) => optionToken);
}

async function cancel(clinic: Clinic, id: string): Promise<void> {
  await mustCall(clinic, "CancelAppointment", await stepOf("CancelAppointment", id, 1));
}

async function stepOf(rpc: string, appointmentId: string, expectedVersion: number): Promise<JsonObject> {
  const step = { appointmentId, expectedVersion };
  if (rpc === "CancelAppointment")
    return { ...step, cancellationReasonId: await fixtures.cancellationReason.create(service, {}) };
  if (rpc === "MarkAppointmentNoShow")
    return { ...step, noShowReasonId: await fixtures.noShowReason.create(service, {}) };
  return step;
}

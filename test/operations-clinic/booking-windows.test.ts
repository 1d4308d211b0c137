import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  everyMorning,
  materialize,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { hold, holdIn } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { timedBooking } from "./timed-bookings.js";

const HOUR = 60;
const NOTHING = {
  addedSlotCount: 0,
  hiddenSlotCount: 0,
  appointmentsBeyondHorizonCount: 0,
  lateCancelCount: 0,
  lateRescheduleCount: 0,
  patientsOverLimitCount: 0,
};

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService({ MAX_OPEN_SLOTS: "5000" });
  service.advance(Date.parse(`${day({ service }, 1)}T07:30:00-05:00`) - service.now());
});

beforeEach(async () => {
  clinic = await openClinic(service, {
    as: { tenantId: randomUUID() },
    rule: { validTo: everyMorning["validTo"] ?? "" },
  });
  patientId = await fixtures.createPatient(service, {}, clinic.as);
});

afterAll(() => closeConsistent(service));

describe("the minimum notice", () => {
  test("hides slots that begin sooner, for a search and for a list of free slots", async () => {
    await change({ minimumNoticeMinutes: 50 * HOUR });
    const [first] = await optionsFor(clinic, { patientId });
    expect(first?.startsAt).toBe(instant(2, "10:00"));
    const { slots } = await mustCall(clinic, "SearchFreeSlots", {
      serviceId: clinic.serviceId,
      dateFrom: day(clinic, 2),
      dateTo: day(clinic, 2),
    });
    expect(slots).toMatchObject(Array.from({ length: 4 }, () => expect.anything()));
  });

  test("of a program replaces that of the tenant until it is removed", async () => {
    await change({ minimumNoticeMinutes: 50 * HOUR });
    expect(await changeProgram({ minimumNoticeMinutes: 0 })).toMatchObject({ minimumNoticeMinutes: 0, version: 2 });
    expect((await optionsFor(clinic, { patientId }))[0]?.startsAt).toBe(instant(2, "08:00"));
    const removed = await changeProgram({ expectedVersion: 2, updateMask: "minimumNoticeMinutes" });
    expect(removed).not.toHaveProperty("minimumNoticeMinutes");
    expect((await optionsFor(clinic, { patientId }))[0]?.startsAt).toBe(instant(2, "10:00"));
  });

  test("ends the options of earlier searches, but not holds", async () => {
    const [first, second] = await optionsFor(clinic, { patientId });
    const held = holdIn(await hold(clinic, `${first?.optionToken}`));
    await change({ minimumNoticeMinutes: 60 * HOUR });
    expectRefusal(await book(clinic, patientId, `${second?.optionToken}`), 410);
    expectRefusal(await hold(clinic, `${second?.optionToken}`), 410);
    expect(appointmentIn(await book(clinic, patientId, held.optionToken)).startsAt).toBe(first?.startsAt);
  });

  test("ends the options of a reschedule", async () => {
    const { appointmentId, version } = await bookFirst(clinic, patientId);
    const [option] = await optionsFor(clinic, { appointmentId });
    await change({ minimumNoticeMinutes: 60 * HOUR });
    const body = { optionToken: `${option?.optionToken}`, expectedVersion: version };
    const path = `/appointments/${appointmentId}/reschedule`;
    const answer = await service.request("POST", path, { token: await service.token(clinic.as), body });
    expect([answer.status, answer.body]).toMatchObject([410, { code: "OPTION_EXPIRED" }]);
  });

  test("does not bind bookings by time", async () => {
    await change({ minimumNoticeMinutes: 60 * HOUR });
    const request = await timedBooking(clinic, { startsAt: instant(2, "08:00") });
    appointmentIn(await call(clinic, "BookAppointmentAt", request));
  });
});

describe("the horizon", () => {
  test("ends searches and bookings by time, and leaves appointments as they are", async () => {
    const kept = await bookFirst(clinic, patientId, on(11));
    const [option] = await optionsFor(clinic, { patientId, ...on(12) });
    await change({ horizonDays: 10 });
    expect(await optionsFor(clinic, { patientId, ...on(10) })).not.toEqual([]);
    expect(await optionsFor(clinic, { patientId, dateFrom: day(clinic, 11), dateTo: day(clinic, 60) })).toEqual([]);
    expectRefusal(await book(clinic, patientId, `${option?.optionToken}`), 410);
    const late = await timedBooking(clinic, { patientId, startsAt: instant(12, "08:00") });
    expectRefusal(await call(clinic, "BookAppointmentAt", late), 422, ["startsAt OUT_OF_RANGE"]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: kept.appointmentId });
    expect(appointment).toMatchObject({ status: "PENDING", version: 1 });
  });

  test("makes schedules longer, which follow every change of the program", async () => {
    await change({ horizonDays: 120 });
    expect(await materialize(clinic)).toMatchObject({ materializedThrough: day(clinic, 120), pending: false });
    expect(await optionsFor(clinic, { patientId, ...on(120) })).toHaveLength(8);
    const { programId } = clinic;
    const block = { programId, startsAt: instant(110, "00:00"), endsAt: instant(111, "00:00"), kind: "OTHER" };
    await mustCall(clinic, "CreateScheduleBlock", block);
    expect(await optionsFor(clinic, { patientId, ...on(110) })).toEqual([]);
    appointmentIn(
      await call(clinic, "BookAppointmentAt", await timedBooking(clinic, { startsAt: instant(119, "08:00") })),
    );
  });

  test("that becomes shorter leaves no slot behind that later changes would miss", async () => {
    await change({ horizonDays: 120 });
    await materialize(clinic);
    const booked = await bookFirst(clinic, patientId, on(115));
    await change({ horizonDays: 30, expectedVersion: 2 });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, startsAtLocal: "10:00", expectedVersion: 1 });
    await change({ updateMask: "horizonDays", horizonDays: 120, expectedVersion: 3 });
    expect(await optionsFor(clinic, { patientId, ...on(115) })).toHaveLength(4);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: booked.appointmentId });
    expect(appointment).toMatchObject({ status: "PENDING", displaced: true, displacedBy: "RULES" });
  });

  test("of a program replaces that of the tenant", async () => {
    await change({ horizonDays: 10 });
    await changeProgram({ horizonDays: 100 });
    expect(await materialize(clinic)).toMatchObject({ materializedThrough: day(clinic, 100) });
    expect(await optionsFor(clinic, { patientId, ...on(100) })).not.toEqual([]);
    expect(await optionsFor(clinic, { patientId, dateFrom: day(clinic, 101), dateTo: day(clinic, 130) })).toEqual([]);
  });

  test("is rejected with more slots than the tenant may have, also in the preview", async () => {
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, slotDurationMinutes: 5, expectedVersion: 1 });
    expectRefusal(await update({ horizonDays: 400 }), 422, ["horizonDays TOO_MANY"]);
    expectRefusal(await call(clinic, "PreviewTenantSettingsChange", { horizonDays: 400 }), 422, [
      "horizonDays TOO_MANY",
    ]);
    const ofProgram = { programId, horizonDays: 400, expectedVersion: 1 };
    expectRefusal(await call(clinic, "UpdateProgramWindow", ofProgram), 422, ["horizonDays TOO_MANY"]);
    const { expectedVersion: _, ...shown } = ofProgram;
    expectRefusal(await call(clinic, "PreviewProgramWindowChange", shown), 422, ["horizonDays TOO_MANY"]);
  });
});

describe("PreviewTenantSettingsChange", () => {
  test("counts the slots that come, the slots that go, and the appointments that stay", async () => {
    await bookFirst(clinic, patientId, on(50));
    expect(await preview({ horizonDays: 100 })).toEqual({ ...NOTHING, addedSlotCount: 10 * 8 });
    expect(await preview({ horizonDays: 40 })).toEqual({
      ...NOTHING,
      hiddenSlotCount: 50 * 8 - 1,
      appointmentsBeyondHorizonCount: 1,
    });
    expect(await preview({ minimumNoticeMinutes: 50 * HOUR })).toEqual({ ...NOTHING, hiddenSlotCount: 8 + 8 + 4 });
    const both = { horizonDays: 1, minimumNoticeMinutes: 50 * HOUR };
    expect(await preview(both)).toMatchObject({ hiddenSlotCount: 91 * 8 - 1, appointmentsBeyondHorizonCount: 1 });
    expect(await preview({})).toEqual(NOTHING);
    expect((await mustCall(clinic, "GetTenantSettings", {}))["tenantSettings"]).toMatchObject({ version: 1 });
  });

  test("adds no slots to a program that has a horizon of its own, though a shorter one", async () => {
    await changeProgram({ horizonDays: 45 });
    expect(await preview({ horizonDays: 100 })).toEqual(NOTHING);
  });

  test("counts no appointment of an inactive program", async () => {
    await bookFirst(clinic, patientId, on(50));
    await mustCall(clinic, "UpdateProgram", { programId: clinic.programId, active: false, expectedVersion: 1 });
    expect(await preview({ horizonDays: 40 })).toEqual(NOTHING);
  });
});

describe("PreviewProgramWindowChange", () => {
  test("counts in the program alone, against its own window or that of the tenant, and changes nothing", async () => {
    await openClinic(service, { as: clinic.as, rule: { validTo: "2099-12-31" } });
    await bookFirst(clinic, patientId, on(50));
    await change({ horizonDays: 80 });
    expect(await previewProgram({ horizonDays: 100 })).toEqual({ ...NO_EFFECT, addedSlotCount: 10 * 8 });
    expect(await previewProgram({ horizonDays: 40 })).toEqual({
      ...NO_EFFECT,
      hiddenSlotCount: 40 * 8 - 1,
      appointmentsBeyondHorizonCount: 1,
    });
    expect(await previewProgram({ minimumNoticeMinutes: 50 * HOUR })).toEqual({
      ...NO_EFFECT,
      hiddenSlotCount: 8 + 8 + 4,
    });
    expect(await previewProgram({})).toEqual(NO_EFFECT);
    expect(await changeProgram({ horizonDays: 45, minimumNoticeMinutes: 50 * HOUR })).toMatchObject({ version: 2 });
    expect(await previewProgram({ horizonDays: 55 })).toEqual(NO_EFFECT);
    expect(await previewProgram({ updateMask: "horizonDays" })).toEqual(NO_EFFECT);
    expect(await previewProgram({ horizonDays: 44 })).toEqual({
      ...NO_EFFECT,
      hiddenSlotCount: 8,
      appointmentsBeyondHorizonCount: 1,
    });
  });

  test("hides no slots that a job must still compare with changed rules, because they cannot be booked", async () => {
    await service.query(`UPDATE programs SET outdated_from = '${day(clinic, 42)}' WHERE id = '${clinic.programId}'`);
    expect(await previewProgram({ horizonDays: 40 })).toEqual({ ...NO_EFFECT, hiddenSlotCount: 8 });
  });

  test("counts against the notice of the tenant if the program has none of its own", async () => {
    await change({ minimumNoticeMinutes: 50 * HOUR });
    const longer = await previewProgram({ minimumNoticeMinutes: 52 * HOUR });
    expect(longer).toEqual({ ...NO_EFFECT, hiddenSlotCount: 4 });
  });

  test("rejects an unknown program and values out of range", async () => {
    const unknown = await call(clinic, "PreviewProgramWindowChange", { programId: clinic.serviceId, horizonDays: 10 });
    expectRefusal(unknown, 404);
    const wrong = { programId: clinic.programId, horizonDays: 401, minimumNoticeMinutes: -1 };
    expectRefusal(await call(clinic, "PreviewProgramWindowChange", wrong), 422, [
      "horizonDays OUT_OF_RANGE",
      "minimumNoticeMinutes OUT_OF_RANGE",
    ]);
  });
});

const NO_EFFECT = { addedSlotCount: 0, hiddenSlotCount: 0, appointmentsBeyondHorizonCount: 0 };

async function previewProgram(request: JsonObject): Promise<JsonObject> {
  const answer = await mustCall(clinic, "PreviewProgramWindowChange", { programId: clinic.programId, ...request });
  return answer["programWindowPreview"] as JsonObject;
}

function on(days: number): JsonObject {
  return { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
}

function instant(days: number, time: string): string {
  return new Date(`${day(clinic, days)}T${time}:00-05:00`).toISOString();
}

function update(request: JsonObject) {
  return call(clinic, "UpdateTenantSettings", { expectedVersion: 1, ...request });
}

async function change(request: JsonObject): Promise<void> {
  await mustCall(clinic, "UpdateTenantSettings", { expectedVersion: 1, ...request });
}

async function changeProgram(request: JsonObject): Promise<JsonObject> {
  const { programId } = clinic;
  const { program } = await mustCall(clinic, "UpdateProgramWindow", { programId, expectedVersion: 1, ...request });
  return program as JsonObject;
}

async function preview(request: JsonObject): Promise<JsonObject> {
  return (await mustCall(clinic, "PreviewTenantSettingsChange", request))["tenantSettingsPreview"] as JsonObject;
}

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HoldService } from "../../src/gen/cupo/clinic/v1/hold_service_pb.js";
import { purgeHolds } from "../../src/jobs/purges.js";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import { countedOf, hold, holdFirst, unitsOf } from "./hold-requests.js";
import { expectRefusal, expectTokenIsBound, idsOf, walkPages } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

const { listHolds } = HoldService.method;
const MINUTE_MS = 60_000;

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  patientId = await fixtures.createPatient(service, {}, clinic.as);
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("booking with the token of a hold", () => {
  test("books the held time, turns its unit into one of the appointment and ends the hold", async () => {
    const { holdId, optionToken, startsAt } = await holdFirst(clinic, { patientId });
    const answer = await book(clinic, patientId, optionToken);
    const { appointmentId } = appointmentIn(answer);
    expect(appointmentIn(answer)).toMatchObject({ startsAt, status: "PENDING" });
    expect([await unitsOf(clinic), await countedOf(clinic)]).toEqual([{ booked: 1, held: 0 }, 0]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "CREATE", resource_type: "Appointment", resource_id: appointmentId },
      { action: "UPDATE", resource_type: "AppointmentHold", resource_id: holdId },
    ]);
    const { hold: ended } = await mustCall(clinic, "GetHold", { holdId });
    expect(ended).toMatchObject({ holdId, bookedAppointmentId: appointmentId, endedAt: expect.any(String) });
    expect(ended).not.toHaveProperty("optionToken");
    expectRefusal(await book(clinic, patientId, optionToken), 410);
  });

  test("takes the last unit of the day, which nobody else can take", async () => {
    const own = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 1 } });
    const [option] = await optionsFor(own, { patientId: await fixtures.createPatient(service, {}, own.as) });
    const { optionToken } = await holdFirst(own, { patientId }, 1);
    expectRefusal(await hold(own, `${option?.optionToken}`), 409, ["optionToken CAPACITY_EXHAUSTED"]);
    expect((await book(own, patientId, optionToken)).status).toBe(200);
  });

  test("works until the hold expires, then it is gone: 410", async () => {
    const held = await holdFirst(clinic, { patientId });
    service.advance(Date.parse(held.expiresAt) - service.now());
    expectRefusal(await book(clinic, patientId, held.optionToken), 410);
    expect((await mustCall(clinic, "GetHold", { holdId: held.holdId }))["hold"]).toMatchObject({
      endedAt: held.expiresAt,
    });
  });

  test("is gone after the release of the hold, and after a change of the rule: 410", async () => {
    const released = await holdFirst(clinic, { patientId });
    await mustCall(clinic, "ReleaseHold", { holdId: released.holdId });
    expectRefusal(await book(clinic, patientId, released.optionToken), 410);
    const outdated = await holdFirst(clinic, { patientId });
    const rule = { programId: clinic.programId, ruleId: clinic.ruleId };
    await mustCall(clinic, "UpdateProgramRule", { ...rule, startsAtLocal: "10:00:00", expectedVersion: 1 });
    expectRefusal(await book(clinic, patientId, outdated.optionToken), 410);
  });

  test("is rejected for another patient: 422", async () => {
    const { optionToken } = await holdFirst(clinic, { patientId });
    const other = await fixtures.createPatient(service, {}, clinic.as);
    expectRefusal(await book(clinic, other, optionToken), 422, ["optionToken INVALID_OPTION"]);
  });

  test("is rejected over an appointment that was overbooked meanwhile: 409", async () => {
    const { optionToken } = await holdFirst(clinic, { patientId });
    await mustCall(clinic, "OverbookAppointment", { ...(await timedBooking(clinic)), reason: "Urgente." });
    expectRefusal(await book(clinic, patientId, optionToken), 409, ["optionToken SLOT_OCCUPIED"]);
  });
});

describe("rescheduling with the token of a hold", () => {
  let appointment: AppointmentBody;

  beforeEach(async () => {
    appointment = await bookFirst(clinic, patientId);
  });

  test("moves the appointment to the held time", async () => {
    const { appointmentId } = appointment;
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const held = await holdFirst(clinic, { appointmentId, ...dates });
    expect(held).toMatchObject({ patientId, appointmentId });
    expect(await unitsOf(clinic)).toEqual({ booked: 1, held: 1 });
    const moved = await move(held.optionToken);
    expect(moved.body).toMatchObject({ appointment: { startsAt: held.startsAt, version: 2 } });
    expect(await unitsOf(clinic)).toEqual({ booked: 1, held: 0 });
    const { hold: ended } = await mustCall(clinic, "GetHold", { holdId: held.holdId });
    expect(ended).toMatchObject({ bookedAppointmentId: appointmentId });
  });

  test("a hold on the day of the appointment uses no unit, even if the day is full", async () => {
    const own = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 1 } });
    const { appointmentId } = await bookFirst(own, await fixtures.createPatient(service, {}, own.as));
    const held = await holdFirst(own, { appointmentId });
    expect(await unitsOf(own)).toEqual({ booked: 1, held: 0 });
    const request = { appointmentId, optionToken: held.optionToken, expectedVersion: 1 };
    await mustCall(own, "RescheduleAppointment", request);
    expect(await unitsOf(own)).toEqual({ booked: 1, held: 0 });
  });

  test("a held unit is returned if the appointment came to that day meanwhile", async () => {
    const { appointmentId } = appointment;
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const held = await holdFirst(clinic, { appointmentId, ...dates });
    const [option] = await optionsFor(clinic, { appointmentId, ...dates });
    expect((await move(`${option?.optionToken}`)).status).toBe(200);
    expect((await move(held.optionToken, 2)).status).toBe(200);
    expect(await unitsOf(clinic)).toEqual({ booked: 1, held: 0 });
  });

  test("a day that the appointment left meanwhile must have a unit for a hold without one: 409", async () => {
    const own = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 1 } });
    const { appointmentId } = await bookFirst(own, await fixtures.createPatient(service, {}, own.as));
    const held = await holdFirst(own, { appointmentId });
    const dates = { dateFrom: day(own, 3), dateTo: day(own, 3) };
    const [option] = await optionsFor(own, { appointmentId, ...dates });
    const request = { appointmentId, optionToken: `${option?.optionToken}`, expectedVersion: 1 };
    await mustCall(own, "RescheduleAppointment", request);
    await mustCall(own, "BookAppointmentAt", await timedBooking(own, { startsAt: at(own, "11:00") }));
    const back = await call(own, "RescheduleAppointment", {
      ...request,
      optionToken: held.optionToken,
      expectedVersion: 2,
    });
    expectRefusal(back, 409, ["optionToken CAPACITY_EXHAUSTED"]);
  });

  function move(optionToken: string, expectedVersion = 1) {
    const { appointmentId } = appointment;
    return call(clinic, "RescheduleAppointment", { appointmentId, optionToken, expectedVersion });
  }
});

describe("ReleaseHold", () => {
  test("ends the hold and returns its unit", async () => {
    const { holdId, startsAt } = await holdFirst(clinic, { patientId });
    const answer = await call(clinic, "ReleaseHold", { holdId });
    expect(answer.body["hold"]).toMatchObject({ holdId, endedAt: expect.any(String) });
    expect([await unitsOf(clinic), await countedOf(clinic)]).toEqual([{ booked: 0, held: 0 }, 0]);
    expect((await optionsFor(clinic, { patientId }))[0]).toMatchObject({ startsAt });
    expect(await auditOf(service, answer)).toMatchObject([{ action: "UPDATE", resource_type: "AppointmentHold" }]);
  });

  test("rejects a hold that was released, was booked or has expired: 409", async () => {
    const [released, booked] = [await holdFirst(clinic, { patientId }), await holdFirst(clinic, { patientId })];
    await mustCall(clinic, "ReleaseHold", { holdId: released.holdId });
    appointmentIn(await book(clinic, patientId, booked.optionToken));
    const expired = await holdFirst(clinic, { patientId });
    service.advance(5 * MINUTE_MS);
    for (const { holdId } of [released, booked, expired])
      expectRefusal(await call(clinic, "ReleaseHold", { holdId }), 409, ["holdId STATE_NOT_ALLOWED"]);
  });
});

describe("ListHolds", () => {
  test("returns the live holds by id, page by page, of a patient or a practitioner", async () => {
    const holds = [];
    for (const skip of [0, 1, 2]) holds.push(await holdFirst(clinic, { patientId }, skip));
    const elsewhere = await openClinic(service, { as: clinic.as });
    const other = await holdFirst(elsewhere);
    await mustCall(clinic, "ReleaseHold", { holdId: `${holds[0]?.holdId}` });
    const list = async (request: Record<string, string>) =>
      idsOf((await walkPages(service, listHolds, "holds", { ...request, pageSize: 1 }, { as: clinic.as })).flat());
    const own = holds.slice(1).map(({ holdId }) => holdId);
    expect(await list({})).toEqual([...own, other.holdId].toSorted());
    expect(await list({ patientId })).toEqual(own.toSorted());
    expect(await list({ practitionerId: `${elsewhere.practitionerIds[0]}` })).toEqual([other.holdId]);
    await expectTokenIsBound(service, listHolds, { request: {}, other: { patientId } }, { as: clinic.as });
    service.advance(5 * MINUTE_MS);
    expect(await list({})).toEqual([]);
  });
});

describe("a hold of a patient", () => {
  test("ends when the patient is merged into another, who then has it", async () => {
    const survivorPatientId = await fixtures.createPatient(service, {}, clinic.as);
    const { holdId, optionToken } = await holdFirst(clinic, { patientId });
    const versions = { survivorExpectedVersion: 1, duplicateExpectedVersion: 1 };
    const request = { survivorPatientId, duplicatePatientId: patientId, ...versions, reason: "Dos registros" };
    const answer = await call(clinic, "MergePatients", request);
    expect(answer.status).toBe(200);
    const events = (await auditOf(service, answer)).filter((row) => row["resource_type"] === "AppointmentHold");
    expect(events).toMatchObject([{ action: "UPDATE", resource_id: holdId }]);
    const { hold: ended } = await mustCall(clinic, "GetHold", { holdId });
    expect(ended).toMatchObject({ patientId: survivorPatientId, endedAt: expect.any(String) });
    expect(await unitsOf(clinic)).toEqual({ booked: 0, held: 0 });
    expectRefusal(await book(clinic, patientId, optionToken), 409, ["patientId PATIENT_NOT_ACTIVE"]);
  });

  test("is part of the patient's export, and is deleted when the patient is erased", async () => {
    const { holdId } = await holdFirst(clinic, { patientId });
    const { appointmentHolds } = await mustCall(clinic, "ExportPatient", { patientId });
    expect(appointmentHolds).toMatchObject([{ holdId, patientId }]);
    const erasure = await call(clinic, "ErasePatient", { patientId, expectedVersion: 1, reason: "Radicado 7" });
    const audit = (await auditOf(service, erasure)).filter((row) => row["resource_type"] === "AppointmentHold");
    expect(audit).toMatchObject([{ action: "DELETE", resource_id: holdId }]);
    expectRefusal(await call(clinic, "GetHold", { holdId }), 404);
    expect(await unitsOf(clinic)).toEqual({ booked: 0, held: 0 });
  });

  test("is deleted a day after it expired", async () => {
    const { holdId } = await holdFirst(clinic, { patientId });
    const { holdId: younger } = await holdFirst(clinic, { patientId });
    for (const each of [holdId, younger]) await mustCall(clinic, "ReleaseHold", { holdId: each });
    const age = (id: string, hours: number) => {
      const then = `now() - interval '${hours} hours'`;
      return service.query(`UPDATE appointment_holds SET ended_at = ${then}, expires_at = ${then}, starts_at = ${then},
        ends_at = ${then} + interval '30 minutes' WHERE id = '${id}'`);
    };
    await Promise.all([age(holdId, 25), age(younger, 23)]);
    const database = openServiceDatabase(service.databaseUrl);
    expect(await purgeHolds(database)).toBeGreaterThan(0);
    await database.close();
    expectRefusal(await call(clinic, "GetHold", { holdId }), 404);
    expect((await call(clinic, "GetHold", { holdId: younger })).status).toBe(200);
  });
});

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DisplacedAppointmentService } from "../../src/gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  appointmentOf,
  blockIn,
  bookElsewhere,
  bookSeveral,
  choicesOf,
  expectSoundness,
  fallIll,
  listed,
  type Outcome,
  openDisplacedClinic,
  outcomesOf,
  setPractitioner,
} from "./displaced-fixtures.js";
import { expectRefusal } from "./rpc-under-test.js";
import { at, countsOf, timedBooking } from "./timed-bookings.js";

const { substitutePractitioner } = DisplacedAppointmentService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openDisplacedClinic(service);
});

afterAll(() => service.close());

describe("AcceptDisplacedAppointments", () => {
  test("leaves appointments unchanged, removes them from the list, and writes an audit row for each", async () => {
    const ids = await bookSeveral(clinic, 2);
    await fallIll(clinic);
    const answer = await call(clinic, "AcceptDisplacedAppointments", { choices: choicesOf(ids) });
    const outcomes = answer.body["outcomes"] as readonly Outcome[];
    const accepted = { displaced: true, displacedBy: "BLOCK", displacementAccepted: true, version: 1 };
    expect(outcomes).toMatchObject(ids.map((appointmentId) => ({ appointmentId, appointment: accepted })));
    expect(await auditOf(service, answer)).toMatchObject(
      ids.map((id) => ({ resource_type: "DisplacedAppointment", resource_id: id, action: "UPDATE" })),
    );
    expect([await listed(clinic), await listed(clinic, { includeAccepted: true })]).toEqual([[], ids]);
    const again = await call(clinic, "AcceptDisplacedAppointments", { choices: choicesOf(ids) });
    expect(again.body["outcomes"]).toEqual(answer.body["outcomes"]);
    expect(await auditOf(service, again)).toEqual([]);
    await expectSoundness(clinic);
  });

  test("no longer applies when another cause retains the appointment", async () => {
    const [id] = await bookSeveral(clinic, 1);
    await fallIll(clinic);
    await outcomesOf(clinic, "AcceptDisplacedAppointments", { choices: choicesOf([`${id}`]) });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, startsAtLocal: "09:00", expectedVersion: 1 });
    expect(await listed(clinic)).toEqual([]);
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId: await blockIn(clinic), expectedVersion: 1 });
    expect(await listed(clinic, { displacedBy: "RULES" })).toEqual([id]);
  });

  test("rejects each by itself if it is unknown, not displaced or stale", async () => {
    const [kept = ""] = await bookSeveral(clinic, 1);
    const [free = ""] = await bookSeveral(clinic, 1, clinic.practitionerIds[1]);
    await fallIll(clinic);
    const absent = randomUUID();
    const choices = [
      ...choicesOf([absent, free, kept], 1),
      ...choicesOf([(await bookElsewhere(clinic)).appointmentId]),
    ];
    const outcomes = await outcomesOf(clinic, "AcceptDisplacedAppointments", { choices });
    expect(outcomes.map(({ refusal }) => refusal)).toEqual(["NOT_FOUND", "NOT_DISPLACED", undefined, "NOT_FOUND"]);
    const stale = await outcomesOf(clinic, "AcceptDisplacedAppointments", { choices: choicesOf([kept], 5) });
    expect(stale).toEqual([{ appointmentId: kept, refusal: "STALE_VERSION" }]);
  });

  test("rejects an empty list, repeated appointments, and more than 100", async () => {
    const send = (ids: readonly string[]) => call(clinic, "AcceptDisplacedAppointments", { choices: choicesOf(ids) });
    const id = randomUUID();
    expectRefusal(await send([]), 422, ["choices TOO_FEW"]);
    expectRefusal(await send([id, id.toUpperCase()]), 422, ["choices DUPLICATE"]);
    expectRefusal(await send(Array.from({ length: 101 }, () => randomUUID())), 422, ["choices TOO_MANY"]);
  });
});

describe("SubstitutePractitioner", () => {
  test("moves each to a free slot of the other practitioner at the same time, and is done once per key", async () => {
    const [, well = ""] = clinic.practitionerIds;
    const ids = await bookSeveral(clinic, 3);
    const { startsAt } = (await appointmentOf(clinic, `${ids[1]}`)) as { startsAt: string };
    await fallIll(clinic);
    await mustCall(clinic, "CreateScheduleBlock", {
      practitionerId: well,
      kind: "MEETING",
      startsAt,
      endsAt: new Date(Date.parse(startsAt) + 60_000).toISOString(),
    });
    const headers = { "idempotency-key": randomUUID() };
    const request = { practitionerId: well, choices: choicesOf(ids) };
    const send = () => callRpc(service, substitutePractitioner, request, { as: clinic.as, headers });
    const answer = await send();
    const outcomes = answer.body["outcomes"] as readonly Outcome[];
    const substituted = { practitionerId: well, displaced: false, version: 2, status: "PENDING" };
    expect(outcomes).toMatchObject([
      { appointmentId: ids[0], appointment: substituted },
      { appointmentId: ids[1], refusal: "NO_FREE_SLOT" },
      { appointmentId: ids[2], appointment: substituted },
    ]);
    expect(await appointmentOf(clinic, `${ids[0]}`)).toEqual(outcomes[0]?.appointment);
    expect(await auditOf(service, answer)).toMatchObject([
      { resource_type: "Appointment", resource_id: ids[0], resource_version: 2 },
      { resource_type: "Appointment", resource_id: ids[2], resource_version: 2 },
    ]);
    expect((await send()).body["outcomes"]).toEqual(outcomes);
    expect(await listed(clinic)).toEqual([ids[1]]);
    await expectSoundness(clinic);
  });

  test("moves each to the chosen one of several practitioners who are free", async () => {
    const practitionerIds = await Promise.all(
      Array.from({ length: 4 }, () => fixtures.practitioner.create(service, clinic.as)),
    );
    const own = await openClinic(service, { as: clinic.as, practitionerIds });
    for (const chosen of practitionerIds.slice(1)) {
      const [appointmentId = ""] = await bookSeveral(own, 1);
      const blockId = await fallIll(own);
      const request = { practitionerId: chosen, choices: choicesOf([appointmentId]) };
      expect(await outcomesOf(own, "SubstitutePractitioner", request)).toMatchObject([
        { appointmentId, appointment: { practitionerId: chosen, version: 2 } },
      ]);
      await mustCall(own, "CancelScheduleBlock", { scheduleBlockId: blockId, expectedVersion: 1 });
    }
    await expectSoundness(own);
  });

  test("uses the capacity of another rule's day, and leaves an appointment if none is left", async () => {
    const { programId, ruleId } = clinic;
    const ids = await bookSeveral(clinic, 2);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 });
    const attributes = {
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      validFrom: "2020-01-01",
      validTo: "2099-12-31",
      holidayDates: [],
    };
    const rule = { ...fixtures.ruleAttributes, ...attributes, holidayPolicy: "INCLUDE", dailyCapacity: 1 };
    await fixtures.createRule(service, programId, rule, clinic.as);
    const request = { practitionerId: `${clinic.practitionerIds[1]}`, choices: choicesOf(ids) };
    const outcomes = await outcomesOf(clinic, "SubstitutePractitioner", request);
    expect(outcomes.map(({ refusal }) => refusal)).toEqual([undefined, "CAPACITY_EXHAUSTED"]);
    await expectSoundness(clinic);
  });

  test("takes a unit of capacity only for an overbooked appointment, and refuses it if no unit is left", async () => {
    const full = await openDisplacedClinic(service, { dailyCapacity: 1 });
    const [, practitionerId = ""] = full.practitionerIds;
    const booking = await timedBooking(full, { startsAt: at(full, "08:30") });
    const { appointmentId } = appointmentIn(await call(full, "BookAppointmentAt", booking));
    const beside = { ...(await timedBooking(full)), reason: "Viene de lejos." };
    const overbooked = appointmentIn(await call(full, "OverbookAppointment", beside));
    expect(overbooked).toMatchObject({ overbooked: true });
    await fallIll(full);
    const substitute = (id: string) =>
      outcomesOf(full, "SubstitutePractitioner", { practitionerId, choices: choicesOf([id]) });
    expect(await substitute(overbooked.appointmentId)).toMatchObject([{ refusal: "CAPACITY_EXHAUSTED" }]);
    expect(await substitute(appointmentId)).toMatchObject([{ appointment: { practitionerId, displaced: false } }]);
    expect(await countsOf(service, full)).toEqual({ counted: 1, beside: 1 });
    const cancellationReasonId = await fixtures.cancellationReason.create(service, full.as);
    await mustCall(full, "CancelAppointment", { appointmentId, expectedVersion: 2, cancellationReasonId });
    const moved = { practitionerId, displaced: false, overbooked: false };
    expect(await substitute(overbooked.appointmentId)).toMatchObject([{ appointment: moved }]);
    expect(await countsOf(service, full)).toEqual({ counted: 1, beside: 0 });
    await expectSoundness(full);
  });

  test("leaves an appointment for a service that the program no longer offers", async () => {
    const { programId, practitionerIds } = clinic;
    const ids = await bookSeveral(clinic, 1);
    await fallIll(clinic);
    await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [], expectedVersion: 2 });
    const request = { practitionerId: `${practitionerIds[1]}`, choices: choicesOf(ids) };
    expect(await outcomesOf(clinic, "SubstitutePractitioner", request)).toMatchObject([
      { refusal: "SERVICE_NOT_OFFERED" },
    ]);
  });

  test("leaves an appointment of a date to which a changed rule was not applied yet", async () => {
    const { programId, practitionerIds } = clinic;
    const ids = await bookSeveral(clinic, 1);
    await fallIll(clinic);
    const substitute = () =>
      outcomesOf(clinic, "SubstitutePractitioner", {
        practitionerId: `${practitionerIds[1]}`,
        choices: choicesOf(ids),
      });
    await service.query(`UPDATE programs SET outdated_from = '2000-01-01' WHERE id = '${programId}'`);
    expect(await substitute()).toMatchObject([{ refusal: "NO_FREE_SLOT" }]);
    await service.query(`UPDATE programs SET outdated_from = NULL WHERE id = '${programId}'`);
    expect(await substitute()).toMatchObject([{ appointment: { displaced: false } }]);
  });

  test("moves only one of two appointments to the same time", async () => {
    const as = clinic.as;
    const third = await fixtures.practitioner.create(service, as);
    const { programId, practitionerIds } = clinic;
    const all = { programId, practitionerIds: [...practitionerIds, third], expectedVersion: 2 };
    await mustCall(clinic, "ReplaceProgramPractitioners", all);
    const ids = [await bookSeveral(clinic, 1), await bookSeveral(clinic, 1, practitionerIds[1])].flat();
    for (const id of practitionerIds) await fallIll(clinic, id);
    const outcomes = await outcomesOf(clinic, "SubstitutePractitioner", {
      practitionerId: third,
      choices: choicesOf(ids),
    });
    expect(outcomes.map(({ refusal }) => refusal)).toEqual([undefined, "PRACTITIONER_BUSY"]);
    await expectSoundness(clinic);
  });

  test("rejects an unknown or inactive practitioner", async () => {
    const choices = choicesOf([randomUUID()]);
    const absent = await call(clinic, "SubstitutePractitioner", { practitionerId: randomUUID(), choices });
    expectRefusal(absent, 404, ["practitionerId NOT_FOUND"]);
    await setPractitioner(clinic, false);
    const inactive = await call(clinic, "SubstitutePractitioner", {
      practitionerId: `${clinic.practitionerIds[0]}`,
      choices,
    });
    expectRefusal(inactive, 422, ["practitionerId INVALID_VALUE"]);
  });
});

describe("OfferDisplacedAppointmentOptions", () => {
  test("returns the earliest options of each, with tokens that move it", async () => {
    const ids = await bookSeveral(clinic, 2);
    await fallIll(clinic);
    const absent = randomUUID();
    const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 9) };
    const request = { appointmentIds: [...ids, absent], ...dates, optionsPerAppointment: 2 };
    const { offers } = await mustCall(clinic, "OfferDisplacedAppointmentOptions", request);
    const [first, second, third] = offers as unknown as readonly {
      options: { optionToken: string }[];
      refusal?: string;
    }[];
    expect([first?.options.length, second?.options.length]).toEqual([2, 2]);
    const usual = await mustCall(clinic, "OfferDisplacedAppointmentOptions", { appointmentIds: ids, ...dates });
    expect(usual["offers"]).toMatchObject(ids.map(() => ({ options: { length: 3 } })));
    expect(third).toMatchObject({ appointmentId: absent, options: [], refusal: "NOT_FOUND" });
    const [appointmentId = ""] = ids;
    const optionToken = `${first?.options[1]?.optionToken}`;
    await mustCall(clinic, "RescheduleAppointment", { appointmentId, optionToken, expectedVersion: 1 });
    expect(await listed(clinic)).toEqual(ids.slice(1));
    const patientId = await fixtures.createPatient(service, {}, clinic.as);
    expect((await optionsFor(clinic, { patientId })).length).toBeGreaterThan(0);
    await expectSoundness(clinic);
  });

  test("offers no slot of an emergency program", async () => {
    const appointmentIds = await bookSeveral(clinic, 1);
    await fallIll(clinic);
    const { as, serviceId } = clinic;
    const ward = await openClinic(service, { as, serviceId, program: { emergency: true } });
    const [dateFrom, practitionerId] = [day(clinic, 2), `${ward.practitionerIds[0]}`];
    const request = { appointmentIds, dateFrom, dateTo: dateFrom, practitionerId };
    const { offers } = await mustCall(clinic, "OfferDisplacedAppointmentOptions", request);
    expect(offers).toMatchObject([{ options: [] }]);
  });
});

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  bookFirst,
  type Clinic,
  call,
  day,
  mustCall,
} from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { countOpen, expectSoundness, openDisplacedClinic } from "./displaced-fixtures.js";
import { holdFirst, unitsOf } from "./hold-requests.js";
import * as resources from "./resources-under-test.js";
import { expectRefusal } from "./rpc-under-test.js";
import { mustBlock } from "./schedule-block-fixtures.js";
import { at, timedBooking } from "./timed-bookings.js";

const { changeAppointment } = BookingService.method;
const LINK = "https://video.example.com/sala-7";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("the visit", () => {
  test("gets another service, type, modality and link, in one change that the history shows", async () => {
    const clinic = await openDisplacedClinic(service);
    const [serviceId, appointmentTypeId] = [await addService(clinic), await createType(clinic, 30)];
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const changes = { serviceId, appointmentTypeId, modality: "VIDEO", joinLink: LINK };
    const answer = await change(clinic, booked, changes);
    const { appointmentId, startsAt, endsAt } = booked;
    expect(appointmentIn(answer)).toMatchObject({ appointmentId, startsAt, endsAt, ...changes, version: 2 });
    expect(await auditOf(service, answer)).toMatchObject([{ action: "UPDATE", resource_version: 2 }]);
    const fromVisit = { serviceId: clinic.serviceId, appointmentTypeId: clinic.appointmentTypeId };
    expect(await lastChange(clinic, booked)).toMatchObject({ version: 2, fromVisit });
    await mustCall(clinic, "ChangeAppointment", { appointmentId, expectedVersion: 2, modality: "PHONE" });
    expect(await lastChange(clinic, booked)).toMatchObject({ fromVisit: { ...changes } });
  });

  test("has a link only by video", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    expectRefusal(await change(clinic, booked, { joinLink: LINK }), 422, ["joinLink INVALID_VALUE"]);
    const video = appointmentIn(await change(clinic, booked, { modality: "VIDEO", joinLink: LINK }));
    const longer = appointmentIn(await change(clinic, video, { durationMinutes: 60 }));
    expect(longer).toMatchObject({ modality: "VIDEO", joinLink: LINK });
    expect(appointmentIn(await change(clinic, longer, { modality: "IN_PERSON" }))).not.toHaveProperty("joinLink");
  });

  test("is decided anew as a first visit of its service, and has the due date of its type", async () => {
    const clinic = await openDisplacedClinic(service);
    const patientId = await patientOf(clinic);
    const serviceId = await addService(clinic);
    const booked = await bookFirst(clinic, patientId);
    const first = appointmentIn(await change(clinic, booked, { serviceId: clinic.serviceId }));
    expect(first).toMatchObject({ firstVisit: true, version: 2 });
    const { appointmentId } = await bookFirst(clinic, patientId, { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) });
    expect(await read(clinic, appointmentId)).toMatchObject({ firstVisit: false });
    expect(appointmentIn(await change(clinic, { appointmentId, version: 1 }, { serviceId }))).toMatchObject({
      firstVisit: true,
    });
    const [opportunityDefinitionId] = [await createDefinition(clinic, 1)];
    const appointmentTypeId = await createType(clinic, 30, { opportunityDefinitionId });
    const changed = appointmentIn(await change(clinic, first, { appointmentTypeId }));
    expect(changed).toMatchObject({ dueOn: day(clinic, 1), requestedOn: day(clinic, 0) });
    await service.query(`UPDATE appointments SET requested_on = NULL, due_on = NULL WHERE id = '${appointmentId}'`);
    const older = appointmentIn(await change(clinic, { appointmentId, version: 2 }, { appointmentTypeId }));
    expect(older).not.toHaveProperty("dueOn");
  });
});

describe("the duration", () => {
  test("takes the slots that follow, and frees the last ones, with the same unit of the day", async () => {
    const clinic = await openDisplacedClinic(service, { dailyCapacity: 1 });
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const [open, units] = [await countOpen(clinic), await unitsOf(clinic)];
    const longer = appointmentIn(await change(clinic, booked, { durationMinutes: 61 }));
    expect(minutesOf(longer)).toBe(90);
    expect([await countOpen(clinic), await unitsOf(clinic)]).toEqual([open - 2, units]);
    expect(await lastChange(clinic, booked)).toMatchObject({
      fromSlot: { endsAt: booked.endsAt },
      toSlot: { endsAt: longer.endsAt },
    });
    await expectSoundness(clinic);
    expect(minutesOf(appointmentIn(await change(clinic, longer, { durationMinutes: 60 })))).toBe(60);
    expect(await countOpen(clinic)).toBe(open - 1);
    await expectSoundness(clinic);
  });

  test("is by default that of the new type", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const appointmentTypeId = await createType(clinic, 60);
    expect(minutesOf(appointmentIn(await change(clinic, booked, { appointmentTypeId })))).toBe(60);
  });

  test("of an overbooked appointment is exactly the given one, within its day", async () => {
    const clinic = await openDisplacedClinic(service);
    const booking = await timedBooking(clinic, { startsAt: at(clinic, "23:00"), reason: "Viene de lejos." });
    const booked = appointmentIn(await call(clinic, "OverbookAppointment", booking));
    expectRefusal(await change(clinic, booked, { durationMinutes: 61 }), 422, ["durationMinutes INVALID_RANGE"]);
    expect(minutesOf(appointmentIn(await change(clinic, booked, { durationMinutes: 47 })))).toBe(47);
    const { patientId } = booked;
    const earlier = { ...booking, patientId, startsAt: at(clinic, "22:00") };
    const before = appointmentIn(await call(clinic, "OverbookAppointment", earlier));
    expectRefusal(await change(clinic, before, { durationMinutes: 61 }), 409, ["durationMinutes PATIENT_OVERLAP"]);
    expect(minutesOf(appointmentIn(await change(clinic, before, { durationMinutes: 60 })))).toBe(60);
    await expectSoundness(clinic);
  });
});

test("an overbooked appointment that becomes longer may reach into a block: staff need not decide on it", async () => {
  const clinic = await openDisplacedClinic(service);
  const booking = await timedBooking(clinic, { startsAt: at(clinic, "22:00"), reason: "Viene de lejos." });
  const booked = appointmentIn(await call(clinic, "OverbookAppointment", booking));
  const { practitionerId, endsAt: startsAt } = booked;
  await mustBlock(clinic, { practitionerId, startsAt, endsAt: at(clinic, "23:30") });
  const longer = appointmentIn(await change(clinic, booked, { durationMinutes: 60 }));
  expect(longer).toMatchObject({ displaced: true, displacedBy: "BLOCK", displacementAccepted: true });
});

describe("404", () => {
  test("names a service or type that does not exist", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const unknown = { serviceId: randomUUID(), appointmentTypeId: randomUUID() };
    const items = ["serviceId NOT_FOUND", "appointmentTypeId NOT_FOUND"];
    expectRefusal(await change(clinic, booked, unknown), 404, items);
  });
});

describe("409", () => {
  test("SLOT_OCCUPIED, PATIENT_OVERLAP or both if the time that follows is not free, and nothing changes", async () => {
    const clinic = await openDisplacedClinic(service);
    const [practitionerId, other] = clinic.practitionerIds;
    const patientId = await patientOf(clinic);
    const booked = await bookFirst(clinic, patientId, { practitionerId: `${practitionerId}` });
    const { holdId } = await holdFirst(clinic, { practitionerId: `${practitionerId}` });
    expectRefusal(await change(clinic, booked, { durationMinutes: 60 }), 409, ["durationMinutes SLOT_OCCUPIED"]);
    await mustCall(clinic, "ReleaseHold", { holdId });
    await bookFirst(clinic, patientId, { practitionerId: `${other}` });
    expectRefusal(await change(clinic, booked, { durationMinutes: 60 }), 409, ["durationMinutes PATIENT_OVERLAP"]);
    await bookFirst(clinic, await patientOf(clinic), { practitionerId: `${practitionerId}` });
    expectRefusal(await change(clinic, booked, { durationMinutes: 60 }), 409, [
      "durationMinutes SLOT_OCCUPIED",
      "durationMinutes PATIENT_OVERLAP",
    ]);
    expect(await read(clinic, booked.appointmentId)).toMatchObject({ endsAt: booked.endsAt, version: 1 });
  });

  test("STATE_NOT_ALLOWED for a finished appointment, and for another duration of a displaced one", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    await mustBlock(clinic, { practitionerId: booked.practitionerId });
    expectRefusal(await change(clinic, booked, { durationMinutes: 60 }), 409, ["appointmentId STATE_NOT_ALLOWED"]);
    const changed = appointmentIn(await change(clinic, booked, { modality: "HOME" }));
    expect(changed).toMatchObject({ modality: "HOME", displaced: true });
    const { appointmentId, version: expectedVersion } = changed;
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion, cancellationReasonId });
    const late = await change(clinic, { appointmentId, version: 3 }, { modality: "PHONE" });
    expectRefusal(late, 409, ["appointmentId STATE_NOT_ALLOWED"]);
  });

  test("STALE_VERSION for another version", async () => {
    const clinic = await openDisplacedClinic(service);
    const { appointmentId } = await bookFirst(clinic, await patientOf(clinic));
    const stale = await change(clinic, { appointmentId, version: 2 }, { durationMinutes: 60 });
    expectRefusal(stale, 409, ["expectedVersion STALE_VERSION"]);
  });
});

describe("422", () => {
  test("requires a change, and an https link without spaces", async () => {
    const request = { appointmentId: randomUUID(), expectedVersion: 1 };
    expectRefusal(await callRpc(service, changeAppointment, request), 422, ["joinLink REQUIRED"]);
    for (const joinLink of ["http://video.example.com", "https://", "https://a b", "javascript:alert(1)"]) {
      const answer = await callRpc(service, changeAppointment, { ...request, joinLink });
      expectRefusal(answer, 422, ["joinLink INVALID_FORMAT"]);
    }
  });

  test("rejects a service that the program does not offer, and an end after the last slot", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const { opportunityDefinitionId } = { opportunityDefinitionId: await createDefinition(clinic, 5) };
    const elsewhere = await resources.provideResource(
      service,
      resources.healthcareService,
      { opportunityDefinitionId },
      clinic.as,
    );
    const foreign = await change(clinic, booked, { serviceId: elsewhere.id });
    expectRefusal(foreign, 422, ["serviceId INVALID_VALUE"]);
    const tooLong = await change(clinic, booked, { durationMinutes: 241 });
    expectRefusal(tooLong, 422, ["durationMinutes INVALID_VALUE"]);
  });

  test("rejects further slots of a date to which a changed rule was not applied yet; a shorter visit needs none", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const longer = appointmentIn(await change(clinic, booked, { durationMinutes: 60 }));
    await service.query(`UPDATE programs SET outdated_from = '2000-01-01' WHERE id = '${clinic.programId}'`);
    const longest = await change(clinic, longer, { durationMinutes: 90 });
    expectRefusal(longest, 422, ["durationMinutes INVALID_VALUE"]);
    expect(minutesOf(appointmentIn(await change(clinic, longer, { durationMinutes: 30 })))).toBe(30);
  });

  test("names a service and a type that are not active", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const [serviceId, appointmentTypeId] = [await addService(clinic), await createType(clinic, 30)];
    const idle = { active: false, expectedVersion: 1 };
    await mustCall(clinic, "UpdateHealthcareService", { serviceId, ...idle });
    await mustCall(clinic, "UpdateAppointmentType", { id: appointmentTypeId, ...idle });
    const items = ["serviceId INVALID_VALUE", "appointmentTypeId INVALID_VALUE"];
    expectRefusal(await change(clinic, booked, { serviceId, appointmentTypeId }), 422, items);
  });
});

function change(
  clinic: Clinic,
  { appointmentId, version: expectedVersion }: Pick<AppointmentBody, "appointmentId" | "version">,
  changes: JsonObject,
) {
  return call(clinic, "ChangeAppointment", { appointmentId, expectedVersion, ...changes });
}

async function read(clinic: Clinic, appointmentId: string): Promise<unknown> {
  return (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"];
}

async function lastChange(clinic: Clinic, { appointmentId }: AppointmentBody): Promise<unknown> {
  return ((await mustCall(clinic, "ListAppointmentChanges", { appointmentId }))["changes"] as unknown[]).at(-1);
}

function patientOf({ as }: Clinic): Promise<string> {
  return fixtures.createPatient(service, {}, as);
}

function minutesOf({ startsAt, endsAt }: AppointmentBody): number {
  return (Date.parse(endsAt) - Date.parse(startsAt)) / 60_000;
}

async function createDefinition({ as }: Clinic, maxWaitDays: number): Promise<string> {
  return (await resources.provideResource(service, resources.opportunityDefinition, { maxWaitDays }, as)).id;
}

async function createType(clinic: Clinic, durationMinutes: number, changes: JsonObject = {}): Promise<string> {
  const opportunityDefinitionId = await createDefinition(clinic, 30);
  const request = { opportunityDefinitionId, durationMinutes, ...changes };
  return (await resources.provideResource(service, resources.appointmentType, request, clinic.as)).id;
}

/** Adds a service to the program. */
async function addService(clinic: Clinic): Promise<string> {
  const opportunityDefinitionId = await createDefinition(clinic, 30);
  const added = await resources.provideResource(
    service,
    resources.healthcareService,
    { opportunityDefinitionId },
    clinic.as,
  );
  const { programId, serviceId } = clinic;
  const request = { programId, serviceIds: [serviceId, added.id], expectedVersion: 2 };
  await mustCall(clinic, "ReplaceProgramServices", request);
  return added.id;
}

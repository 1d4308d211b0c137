import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  awaitStep,
  bookFirst,
  type Clinic,
  call,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  appointmentOf,
  countOpen,
  expectSoundness,
  openDisplacedClinic,
  setPractitioner,
} from "./displaced-fixtures.js";
import { holdFirst, unitsOf } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { mustBlock } from "./schedule-block-fixtures.js";
import { timedBooking } from "./timed-bookings.js";

const MINUTE_MS = 60_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("an undone cancellation", () => {
  test.each([
    ["PENDING", []],
    ["CONFIRMED", ["ConfirmAppointment"]],
    ["CHECKED_IN", ["ConfirmAppointment", "CheckInAppointment"]],
  ])("restores %s with the slot, the unit, the id and the wait, and history shows both", async (status, steps) => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    let appointment = booked;
    for (const rpc of steps) appointment = await step(clinic, rpc, appointment);
    const [open, units] = [await countOpen(clinic), await unitsOf(clinic)];
    const cancelled = await cancel(clinic, appointment);
    const undone = appointmentIn(await undo(clinic, cancelled, status));
    const rest = (await appointmentOf(clinic, booked.appointmentId)) as JsonObject;
    expect(undone).toMatchObject({ ...timeOf(booked), status, version: cancelled.version + 1, displaced: false });
    expect(rest).toMatchObject(undone as unknown as JsonObject);
    expect(rest).not.toHaveProperty("cancellationReasonId");
    expect([await countOpen(clinic), await unitsOf(clinic)]).toEqual([open, units]);
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: booked.appointmentId });
    expect((changes as JsonObject[]).slice(-2)).toMatchObject([
      { fromStatus: status, toStatus: "CANCELLED", cancellationReasonId: expect.any(String) },
      { fromStatus: "CANCELLED", toStatus: status, correctionReason: "Se canceló a otra persona." },
    ]);
    await expectSoundness(clinic);
  });

  test("can be cancelled and undone again, to the last status", async () => {
    const clinic = await openDisplacedClinic(service);
    const booked = await bookFirst(clinic, await patientOf(clinic));
    const pending = appointmentIn(await undo(clinic, await cancel(clinic, booked), "PENDING"));
    const again = await cancel(clinic, await step(clinic, "ConfirmAppointment", pending));
    expectRefusal(await undo(clinic, again, "PENDING"), 409, ["appointmentId STATE_NOT_ALLOWED"]);
    expect(appointmentIn(await undo(clinic, again, "CONFIRMED"))).toMatchObject({ status: "CONFIRMED" });
  });

  const gone = (clinic: Clinic) =>
    mustCall(clinic, "UpdateProgram", { programId: clinic.programId, active: false, expectedVersion: 1 });
  test.each<[string, string, (clinic: Clinic) => Promise<unknown>]>([
    ["under a block", "BLOCK", (clinic) => mustBlock(clinic, { practitionerId: `${clinic.practitionerIds[0]}` })],
    ["of a practitioner who is not active", "PRACTITIONER_INACTIVE", (clinic) => setPractitioner(clinic, false)],
    ["of a program that is not active", "PROGRAM_INACTIVE", gone],
    ["of a program at another location", "PROGRAM_MOVED", move],
    ["that the rules no longer have", "RULES", (clinic) => changeRule(clinic, { startsAtLocal: "08:10" })],
    ["of a practitioner who left", "PRACTITIONERS", leave],
  ])("is displaced at a time %s", async (_, cause, change) => {
    const clinic = await openDisplacedClinic(service);
    const practitionerId = `${clinic.practitionerIds[0]}`;
    const booked = await bookFirst(clinic, await patientOf(clinic), { practitionerId });
    const cancelled = await cancel(clinic, booked);
    await change(clinic);
    const { startsAt, endsAt, locationId } = booked;
    const undone = appointmentIn(await undo(clinic, cancelled, "PENDING"));
    expect(undone).toMatchObject({ startsAt, endsAt, locationId, displaced: true, displacedBy: cause });
    await expectSoundness(clinic);
  });
});

test("an appointment of several slots keeps its length after its slots were withdrawn", async () => {
  const clinic = await openDisplacedClinic(service);
  const booked = appointmentIn(
    await call(clinic, "BookAppointmentAt", await timedBooking(clinic, { durationMinutes: 60 })),
  );
  const cancelled = await cancel(clinic, booked);
  await mustBlock(clinic, { practitionerId: booked.practitionerId });
  const { appointmentId, displaced } = appointmentIn(await undo(clinic, cancelled, "PENDING"));
  expect(displaced).toBe(true);
  const [option] = await optionsFor(clinic, { appointmentId });
  expect(lengthOf(option)).toBe(60 * MINUTE_MS);
  await mustCall(clinic, "MoveAppointment", {
    appointmentId,
    optionToken: `${option?.optionToken}`,
    expectedVersion: 3,
  });
  const [next] = await optionsFor(clinic, { appointmentId });
  expect(lengthOf(next)).toBe(60 * MINUTE_MS);
});

describe("409", () => {
  test("SLOT_OCCUPIED if the slot is booked or held now", async () => {
    const clinic = await openDisplacedClinic(service);
    const practitionerId = `${clinic.practitionerIds[0]}`;
    const cancelled = await cancel(clinic, await bookFirst(clinic, await patientOf(clinic), { practitionerId }));
    const { holdId } = await holdFirst(clinic, { practitionerId });
    expectRefusal(await undo(clinic, cancelled, "PENDING"), 409, ["appointmentId SLOT_OCCUPIED"]);
    await mustCall(clinic, "ReleaseHold", { holdId });
    await bookFirst(clinic, await patientOf(clinic), { practitionerId });
    expectRefusal(await undo(clinic, cancelled, "PENDING"), 409, ["appointmentId SLOT_OCCUPIED"]);
  });

  test("PATIENT_OVERLAP if the patient has another appointment at that time", async () => {
    const clinic = await openDisplacedClinic(service);
    const [practitionerId, other] = clinic.practitionerIds;
    const patientId = await patientOf(clinic);
    const cancelled = await cancel(clinic, await bookFirst(clinic, patientId, { practitionerId: `${practitionerId}` }));
    await bookFirst(clinic, patientId, { practitionerId: `${other}` });
    expectRefusal(await undo(clinic, cancelled, "PENDING"), 409, ["appointmentId PATIENT_OVERLAP"]);
  });

  test("CAPACITY_EXHAUSTED if the day is full now", async () => {
    const clinic = await openDisplacedClinic(service, { dailyCapacity: 1 });
    const cancelled = await cancel(clinic, await bookFirst(clinic, await patientOf(clinic)));
    await bookFirst(clinic, await patientOf(clinic), {}, 2);
    expectRefusal(await undo(clinic, cancelled, "PENDING"), 409, ["appointmentId CAPACITY_EXHAUSTED"]);
  });

  test("PATIENT_NOT_ACTIVE if the patient is not active", async () => {
    const clinic = await openDisplacedClinic(service);
    const patientId = await patientOf(clinic);
    const cancelled = await cancel(clinic, await bookFirst(clinic, patientId));
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "DECEASED", expectedVersion: 1 });
    expectRefusal(await undo(clinic, cancelled, "PENDING"), 409, ["appointmentId PATIENT_NOT_ACTIVE"]);
  });
});

test("409 names everything that stands in the way", async () => {
  const clinic = await openDisplacedClinic(service, { dailyCapacity: 1 });
  const [practitionerId, other] = clinic.practitionerIds;
  const patientId = await patientOf(clinic);
  const cancelled = await cancel(clinic, await bookFirst(clinic, patientId, { practitionerId: `${practitionerId}` }));
  await bookFirst(clinic, patientId, { practitionerId: `${other}` });
  await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
  expectRefusal(await undo(clinic, cancelled, "PENDING"), 409, [
    "appointmentId PATIENT_NOT_ACTIVE",
    "appointmentId PATIENT_OVERLAP",
    "appointmentId CAPACITY_EXHAUSTED",
  ]);
});

test("an overbooked appointment returns beside the others, without a unit", async () => {
  const clinic = await openClinic(service);
  const first = await bookFirst(clinic, await patientOf(clinic));
  const { requestSourceId, appointmentTypeId, programId, serviceId } = clinic;
  const { practitionerId, startsAt } = first;
  const target = { programId, practitionerId, serviceId, requestSourceId, appointmentTypeId, startsAt };
  const request = { ...target, patientId: await patientOf(clinic), durationMinutes: 10, reason: "Urgencia." };
  const overbooked = appointmentIn(await call(clinic, "OverbookAppointment", request));
  const units = await unitsOf(clinic);
  const undone = appointmentIn(await undo(clinic, await cancel(clinic, overbooked), "PENDING"));
  expect(undone).toMatchObject({ overbooked: true, displaced: false });
  expect(await unitsOf(clinic)).toEqual(units);
});

test("an overbooked appointment after a horizon that was shortened returns", async () => {
  const clinic = await openClinic(service);
  const { programId } = clinic;
  const startsAt = `${day(clinic, 150)}T09:00:00-05:00`;
  await mustCall(clinic, "UpdateProgramWindow", { programId, horizonDays: 200, expectedVersion: 1 });
  const request = await timedBooking(clinic, { startsAt, durationMinutes: 30, reason: "Viaja desde Leticia." });
  const overbooked = appointmentIn(await call(clinic, "OverbookAppointment", request));
  const cancelled = await cancel(clinic, overbooked);
  await mustCall(clinic, "UpdateProgramWindow", { programId, horizonDays: 30, expectedVersion: 2 });
  const undone = appointmentIn(await undo(clinic, cancelled, "PENDING"));
  expect(undone).toMatchObject({ ...timeOf(overbooked), overbooked: true, displaced: false });
});

function lengthOf(option: { readonly startsAt: string; readonly endsAt: string } | undefined): number {
  return Date.parse(`${option?.endsAt}`) - Date.parse(`${option?.startsAt}`);
}

function timeOf({ startsAt, endsAt, practitionerId, locationId }: AppointmentBody): JsonObject {
  return { startsAt, endsAt, practitionerId, locationId };
}

function patientOf({ as }: Clinic): Promise<string> {
  return fixtures.createPatient(service, {}, as);
}

async function step(clinic: Clinic, rpc: string, appointment: AppointmentBody): Promise<AppointmentBody> {
  awaitStep(clinic, rpc, appointment);
  const { appointmentId, version: expectedVersion } = appointment;
  return appointmentIn(await call(clinic, rpc, { appointmentId, expectedVersion }));
}

async function cancel(clinic: Clinic, { appointmentId, version }: AppointmentBody): Promise<AppointmentBody> {
  const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
  const request = { appointmentId, expectedVersion: version, cancellationReasonId, comment: "Llamó." };
  return appointmentIn(await call(clinic, "CancelAppointment", request));
}

function undo(clinic: Clinic, { appointmentId, version: expectedVersion }: AppointmentBody, status: string) {
  const reason = "Se canceló a otra persona.";
  return call(clinic, "CorrectAppointmentStatus", { appointmentId, expectedVersion, status, reason });
}

async function move(clinic: Clinic): Promise<void> {
  const locationId = await fixtures.location.create(service, clinic.as);
  await mustCall(clinic, "UpdateProgram", { programId: clinic.programId, locationId, expectedVersion: 1 });
}

async function changeRule(clinic: Clinic, changes: JsonObject): Promise<void> {
  const { programId, ruleId } = clinic;
  await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, ...changes });
}

async function leave({ programId, practitionerIds, ...clinic }: Clinic): Promise<void> {
  const rest = practitionerIds.slice(1);
  const request = { programId, practitionerIds: rest, expectedVersion: 2 };
  await mustCall(clinic, "ReplaceProgramPractitioners", request);
}

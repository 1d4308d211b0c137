import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
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
import { messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { hold, holdFirst } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { timedBooking } from "./timed-bookings.js";

let service: TestService;
/** A clinic with one unit of capacity a day. */
let clinic: Clinic;
/** Another program of the same tenant. */
let other: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  const as = { tenantId: randomUUID() };
  clinic = await openClinic(service, { as, rule: { dailyCapacity: 1 } });
  other = await openClinic(service, { as });
  patientId = await fixtures.createPatient(service, {}, as);
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("a refused booking names everything that stands in its way", () => {
  test("the slot, the patient's other appointment and the capacity of the day", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    await takeSlotAndCapacity();
    await bookFirst(other, patientId);
    expectRefusal(await book(clinic, patientId, `${option?.optionToken}`), 409, [
      "optionToken SLOT_OCCUPIED",
      "optionToken PATIENT_OVERLAP",
      "optionToken CAPACITY_EXHAUSTED",
    ]);
  });

  test("the patient and the waitlist entry, before the time", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const waitlistEntryId = await closedEntry();
    await takeSlotAndCapacity();
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    const answer = await book(clinic, patientId, `${option?.optionToken}`, { waitlistEntryId });
    expectRefusal(answer, 409, [
      "patientId PATIENT_NOT_ACTIVE",
      "waitlistEntryId STATE_NOT_ALLOWED",
      "optionToken SLOT_OCCUPIED",
      "optionToken CAPACITY_EXHAUSTED",
    ]);
  });

  test("names the practitioner and the patient, and no capacity if a unit is left", async () => {
    const [option] = await optionsFor(other, { patientId });
    await mustCall(other, "OverbookAppointment", await timedBooking(other, { reason: "Urgencia." }));
    await bookFirst(clinic, patientId);
    const answer = await book(other, patientId, `${option?.optionToken}`);
    expectRefusal(answer, 409, ["optionToken SLOT_OCCUPIED", "optionToken PATIENT_OVERLAP"]);
  });

  test("by time, on startsAt", async () => {
    await takeSlotAndCapacity();
    await bookFirst(other, patientId);
    expectRefusal(await call(clinic, "BookAppointmentAt", await timedBooking(clinic, { patientId })), 409, [
      "startsAt SLOT_OCCUPIED",
      "startsAt PATIENT_OVERLAP",
      "startsAt CAPACITY_EXHAUSTED",
    ]);
  });

  test("by overbooking: the patient and the entry, never the practitioner or the capacity", async () => {
    const waitlistEntryId = await closedEntry();
    await takeSlotAndCapacity();
    await bookFirst(other, patientId);
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    const request = await timedBooking(clinic, { patientId, waitlistEntryId, reason: "Urgencia." });
    expectRefusal(await call(clinic, "OverbookAppointment", request), 409, [
      "patientId PATIENT_NOT_ACTIVE",
      "waitlistEntryId STATE_NOT_ALLOWED",
      "startsAt PATIENT_OVERLAP",
    ]);
  });

  test("what is wrong with the request itself comes first: 422 alone", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    await takeSlotAndCapacity();
    const appointmentTypeId = await fixtures.appointmentType.create(service, clinic.as);
    await mustCall(clinic, "UpdateAppointmentType", { id: appointmentTypeId, active: false, expectedVersion: 1 });
    const answer = await book(clinic, patientId, `${option?.optionToken}`, { appointmentTypeId });
    expectRefusal(answer, 422, ["appointmentTypeId INVALID_VALUE"]);
  });
});

describe("an option that is gone does not hide an inactive patient", () => {
  test.each([
    ["has expired", () => service.advance(10 * 60_000)],
    ["was used", (token: string) => useUp(token)],
    ["was withdrawn", () => withdraw()],
  ])("in a booking or a hold, if the token %s", async (_, lose) => {
    const option = await firstToken();
    await lose(option);
    expectRefusal(await book(clinic, patientId, option), 410);
    expectRefusal(await hold(clinic, option), 410);
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await book(clinic, patientId, option), 409, ["patientId PATIENT_NOT_ACTIVE"]);
    expectRefusal(await hold(clinic, option), 409, ["optionToken PATIENT_NOT_ACTIVE"]);
  });

  test("in a hold, if all alternatives have expired", async () => {
    const [option, alternative] = [await firstToken(), await firstToken()];
    service.advance(10 * 60_000);
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    const answer = await hold(clinic, option, { alternativeOptionTokens: [alternative] });
    expectRefusal(answer, 409, ["optionToken PATIENT_NOT_ACTIVE"]);
  });

  test("nor a closed waitlist entry of a booking", async () => {
    const option = await firstToken();
    const waitlistEntryId = await closedEntry();
    service.advance(10 * 60_000);
    const answer = await book(clinic, patientId, option, { waitlistEntryId });
    expectRefusal(answer, 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
  });

  test("nor an appointment that cannot be moved, in a hold", async () => {
    const { appointmentId } = await bookFirst(other, patientId);
    const [option] = await optionsFor(other, { appointmentId });
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    await mustCall(other, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
    service.advance(10 * 60_000);
    expectRefusal(await hold(other, `${option?.optionToken}`), 409, ["optionToken STATE_NOT_ALLOWED"]);
  });

  async function firstToken(): Promise<string> {
    const [option] = await optionsFor(clinic, { patientId });
    return `${option?.optionToken}`;
  }

  async function useUp(optionToken: string): Promise<void> {
    const { body } = await hold(clinic, optionToken);
    await mustCall(clinic, "ReleaseHold", { holdId: (body["hold"] as { holdId: string }).holdId });
  }

  async function withdraw(): Promise<void> {
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, startsAtLocal: "09:00:00" });
  }
});

describe("a refused hold", () => {
  test("names the limit, the slot, the patient and the capacity", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    for (const skip of [0, 1, 2]) await holdFirst(other, { patientId }, skip);
    await takeSlotAndCapacity();
    expectRefusal(await hold(clinic, `${option?.optionToken}`), 409, [
      "optionToken HOLD_LIMIT",
      "optionToken SLOT_OCCUPIED",
      "optionToken PATIENT_OVERLAP",
      "optionToken CAPACITY_EXHAUSTED",
    ]);
  });
});

describe("a refused move", () => {
  let move: JsonObject;

  beforeEach(async () => {
    const appointment = await bookFirst(clinic, patientId, { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) });
    const { appointmentId } = appointment;
    const options = await optionsFor(clinic, { appointmentId });
    await takeSlotAndCapacity();
    await bookFirst(other, patientId);
    move = { appointmentId, optionToken: `${options[0]?.optionToken}`, expectedVersion: 1 };
  });

  test("names everything in the clinic's operation", async () => {
    const answer = await call(clinic, "MoveAppointment", move);
    expectRefusal(answer, 409, [
      "optionToken SLOT_OCCUPIED",
      "optionToken PATIENT_OVERLAP",
      "optionToken CAPACITY_EXHAUSTED",
    ]);
    expect(messagesOf(answer)).toHaveLength(3);
  });

  test("names only the first in the published operation", async () => {
    expectRefusal(await call(clinic, "RescheduleAppointment", move), 409, ["optionToken SLOT_OCCUPIED"]);
  });

  test("names no capacity on the day on which the appointment has a unit", async () => {
    const full = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 2 } });
    const { appointmentId } = await bookFirst(full, await fixtures.createPatient(service, {}, clinic.as), {}, 1);
    const [option] = await optionsFor(full, { appointmentId });
    await bookFirst(full, await fixtures.createPatient(service, {}, clinic.as));
    const request = { appointmentId, optionToken: `${option?.optionToken}`, expectedVersion: 1 };
    expectRefusal(await call(full, "MoveAppointment", request), 409, ["optionToken SLOT_OCCUPIED"]);
  });
});

/** Books the first slot of the day after tomorrow for somebody else. The day of `clinic` then has no capacity left. */
async function takeSlotAndCapacity(): Promise<AppointmentBody> {
  return bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
}

async function closedEntry(): Promise<string> {
  const { as, serviceId } = clinic;
  const waitlistEntryId = await deskFixtures(service, as).entry({ patientId, serviceId });
  await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId, expectedVersion: 1, reason: "Ya no espera." });
  return waitlistEntryId;
}

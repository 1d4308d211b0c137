import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  bookFirst,
  type Clinic,
  call,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

const TOO_EARLY = ["appointmentId TOO_EARLY"];
const NOT_ALLOWED = ["appointmentId STATE_NOT_ALLOWED"];
const NOT_ACTIVE = ["appointmentId PATIENT_NOT_ACTIVE"];
const MINUTE_MS = 60_000;
const DAY = 24 * 60;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service));

describe("CheckInAppointment", () => {
  test("is too early until four hours before the start, which the error states, and not later", async () => {
    const { clinic, appointment } = await prepare("ConfirmAppointment");
    const early = await stepAt(-4 * 60 - 1, "CheckInAppointment", clinic, appointment);
    expectRefusal(early, 409, TOO_EARLY);
    const earliest = new Date(Date.parse(appointment.startsAt) - 4 * 60 * MINUTE_MS)
      .toISOString()
      .replace(".000Z", "Z");
    expect(messagesOf(early).join()).toContain(earliest);
    expectStatus(await stepAt(-4 * 60, "CheckInAppointment", clinic, appointment), "CHECKED_IN");
  });

  test("is too early on the day before, even shortly before the appointment", async () => {
    const { clinic, appointment } = await prepare("ConfirmAppointment", {
      startsAtLocal: "01:00",
      endsAtLocal: "02:00",
    });
    expectRefusal(await stepAt(-61, "CheckInAppointment", clinic, appointment), 409, TOO_EARLY);
    expectStatus(await stepAt(-60, "CheckInAppointment", clinic, appointment), "CHECKED_IN");
  });

  test("can be recorded days later", async () => {
    const { clinic, appointment } = await prepare("ConfirmAppointment");
    expectStatus(await stepAt(2 * DAY, "CheckInAppointment", clinic, appointment), "CHECKED_IN");
  });

  test("of a pending appointment, begun or not, means that the patient came without confirming", async () => {
    for (const minutes of [-30, 5]) {
      const { clinic, appointment } = await prepare();
      expectStatus(await stepAt(minutes, "CheckInAppointment", clinic, appointment), "CHECKED_IN");
    }
  });

  test("is rejected for an inactive patient if the appointment is pending, but not if it is confirmed", async () => {
    for (const [first, items] of [[undefined, NOT_ACTIVE] as const, ["ConfirmAppointment", []] as const]) {
      const { clinic, appointment } = await prepare(first);
      await setStatus(clinic, appointment, "INACTIVE", 1);
      const answer = await stepAt(-60, "CheckInAppointment", clinic, appointment);
      if (items.length > 0) expectRefusal(answer, 409, items);
      else expectStatus(answer, "CHECKED_IN");
    }
  });
});

describe("MarkAppointmentAttended", () => {
  test("is too early until an hour before the start, and not later", async () => {
    const { clinic, appointment } = await prepare("ConfirmAppointment");
    await stepAt(-120, "CheckInAppointment", clinic, appointment);
    expectRefusal(await stepAt(-61, "MarkAppointmentAttended", clinic, appointment), 409, TOO_EARLY);
    expectStatus(await stepAt(-60, "MarkAppointmentAttended", clinic, appointment), "ATTENDED");
  });
});

describe("MarkAppointmentNoShow", () => {
  test.each([
    ["PENDING", undefined],
    ["CONFIRMED", "ConfirmAppointment"],
  ])("with status %s is too early until a quarter of an hour after the start, and not later", async (_, first) => {
    const { clinic, appointment } = await prepare(first);
    expectRefusal(await stepAt(14, "MarkAppointmentNoShow", clinic, appointment), 409, TOO_EARLY);
    expectStatus(await stepAt(15, "MarkAppointmentNoShow", clinic, appointment), "NO_SHOW");
  });

  test("reports a status that does not allow it, early or not", async () => {
    const { clinic, appointment } = await prepare("ConfirmAppointment");
    await stepAt(-60, "CheckInAppointment", clinic, appointment);
    expectRefusal(await stepAt(-59, "MarkAppointmentNoShow", clinic, appointment), 409, NOT_ALLOWED);
  });

  test("frees a slot that is no longer offered", async () => {
    const { clinic, appointment } = await prepare("ConfirmAppointment");
    const patientId = await fixtures.createPatient(service);
    const date = dateOf(appointment);
    expectStatus(await stepAt(15, "MarkAppointmentNoShow", clinic, appointment), "NO_SHOW");
    const offered = await optionsFor(clinic, { patientId, dateFrom: date, dateTo: date });
    expect(offered.map(({ startsAt }) => startsAt)).not.toContain(appointment.startsAt);
    expect(offered.length).toBeGreaterThan(0);
    const [slot] = await service.query(
      `SELECT appointment_id FROM slots WHERE program_id = '${clinic.programId}' AND starts_at = '${appointment.startsAt}'`,
    );
    expect(slot).toEqual({ appointment_id: null });
  });
});

describe("ConfirmAppointment", () => {
  test("is rejected once the appointment has begun, and not a minute before", async () => {
    for (const [minutes, hasBegun] of [[0, true] as const, [-1, false] as const]) {
      const { clinic, appointment } = await prepare();
      const answer = await stepAt(minutes, "ConfirmAppointment", clinic, appointment);
      if (hasBegun) expectRefusal(answer, 409, NOT_ALLOWED);
      else expectStatus(answer, "CONFIRMED");
    }
  });

  test("is rejected for an inactive patient, until they are active again", async () => {
    const { clinic, appointment } = await prepare();
    await setStatus(clinic, appointment, "INACTIVE", 1);
    expectRefusal(await stepNow("ConfirmAppointment", clinic, appointment), 409, NOT_ACTIVE);
    await setStatus(clinic, appointment, "ACTIVE", 2);
    expectStatus(await stepNow("ConfirmAppointment", clinic, appointment), "CONFIRMED");
  });

  test("is rejected for a deceased patient", async () => {
    const { clinic, appointment } = await prepare();
    await setStatus(clinic, appointment, "DECEASED", 1);
    expectRefusal(await stepNow("ConfirmAppointment", clinic, appointment), 409, NOT_ACTIVE);
  });
});

test("settings define how early and how late steps can be taken", async () => {
  const strict = await startTestService({
    CHECK_IN_EARLY_MINUTES: "30",
    ATTENDED_EARLY_MINUTES: "0",
    NO_SHOW_GRACE_MINUTES: "40",
  });
  try {
    const { clinic, appointment } = await prepare("ConfirmAppointment", {}, strict);
    expectRefusal(await stepAt(-31, "CheckInAppointment", clinic, appointment), 409, TOO_EARLY);
    expectStatus(await stepAt(-30, "CheckInAppointment", clinic, appointment), "CHECKED_IN");
    expectRefusal(await stepAt(-1, "MarkAppointmentAttended", clinic, appointment), 409, TOO_EARLY);
    expectStatus(await stepAt(0, "MarkAppointmentAttended", clinic, appointment), "ATTENDED");
    const other = await bookFirst(clinic, await fixtures.createPatient(strict));
    expectRefusal(await stepAt(39, "MarkAppointmentNoShow", clinic, other), 409, TOO_EARLY);
    expectStatus(await stepAt(40, "MarkAppointmentNoShow", clinic, other), "NO_SHOW");
  } finally {
    await strict.close();
  }
});

/** Opens a clinic with an appointment on the day after tomorrow, and takes the first step if one is given. */
async function prepare(step?: string, rule: JsonObject = {}, at = service) {
  const [clinic, patientId] = await Promise.all([openClinic(at, { rule }), fixtures.createPatient(at)]);
  const appointment = await bookFirst(clinic, patientId);
  if (step !== undefined) expect((await stepNow(step, clinic, appointment)).status).toBe(200);
  return { clinic, appointment };
}

/** Takes a step a number of minutes after the start of an appointment, or before it if negative. */
async function stepAt(minutes: number, rpc: string, clinic: Clinic, appointment: AppointmentBody) {
  const atMs = Date.parse(appointment.startsAt) + minutes * MINUTE_MS;
  expect(atMs).toBeGreaterThan(clinic.service.now() - MINUTE_MS);
  clinic.service.advance(atMs - clinic.service.now());
  return stepNow(rpc, clinic, appointment);
}

/** Takes a step on the current version of the appointment. */
async function stepNow(rpc: string, clinic: Clinic, { appointmentId }: AppointmentBody) {
  const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
  const expectedVersion = (appointment as unknown as AppointmentBody).version;
  const reason =
    rpc === "MarkAppointmentNoShow"
      ? { noShowReasonId: await fixtures.noShowReason.create(clinic.service, clinic.as) }
      : {};
  return call(clinic, rpc, { appointmentId, expectedVersion, ...reason });
}

function setStatus(clinic: Clinic, { patientId }: AppointmentBody, status: string, expectedVersion: number) {
  return mustCall(clinic, "SetPatientStatus", { patientId, status, expectedVersion });
}

function expectStatus(answer: Awaited<ReturnType<typeof call>>, status: string): void {
  expect(appointmentIn(answer)).toMatchObject({ status });
}

/** Returns the local date of a morning appointment. */
function dateOf({ startsAt }: AppointmentBody): string {
  return startsAt.slice(0, 10);
}

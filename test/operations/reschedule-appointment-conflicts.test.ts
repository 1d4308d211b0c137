import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as makers from "../contract/makers.js";
import { summaryOf } from "../contract/send.js";
import {
  type AppointmentBody,
  awaitStep,
  bookFirst,
  type Clinic,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { brokenInvariants } from "../schedule/invariants.js";
import { messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import { cancel, expectMoved, expectRefusal, prepareMove, sendMove, tokenOf } from "./reschedule-appointment-moves.js";

const NOT_ALLOWED = ["appointmentId STATE_NOT_ALLOWED"];
const FIVE_MINUTES_MS = 5 * 60_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(async () => {
  const broken = await brokenInvariants(service);
  await service.close();
  expect(broken).toEqual([]);
});

describe("409 STALE_VERSION", () => {
  test("tells the current version and leaves everything as it is, the token too", async () => {
    const move = await prepareMove(service);
    await mustCall(move.clinic, "ConfirmAppointment", {
      appointmentId: move.appointment.appointmentId,
      expectedVersion: 1,
    });
    for (const expectedVersion of [1, 3, 0, -1])
      await expectRefusal(move, { expectedVersion }, 409, ["expectedVersion STALE_VERSION"]);
    expect(messagesOf(await sendMove(move)).join()).toMatch(/\b2\b/);
    await expectMoved(move, { expectedVersion: 2 });
  });

  test("is what all but one of several moves of one appointment at once are answered with", async () => {
    const move = await prepareMove(service);
    const answers = await Promise.all(move.options.map(({ optionToken }) => sendMove(move, { optionToken })));
    const stale = Array.from({ length: answers.length - 1 }, () => "409 expectedVersion STALE_VERSION");
    expect(answers.map(summaryOf).toSorted()).toEqual(["200", ...stale]);
  });
});

describe("409 STATE_NOT_ALLOWED", () => {
  test.each<[string, readonly string[]]>([
    ["CHECKED_IN", ["ConfirmAppointment", "CheckInAppointment"]],
    ["ATTENDED", ["ConfirmAppointment", "CheckInAppointment", "MarkAppointmentAttended"]],
    ["CANCELLED", ["CancelAppointment"]],
    ["NO_SHOW", ["ConfirmAppointment", "MarkAppointmentNoShow"]],
  ])("keeps an appointment that is %s where it is", async (status, steps) => {
    const move = await prepareMove(service);
    const expectedVersion = await take(steps, move.clinic, move.appointment);
    const { appointment } = await mustCall(move.clinic, "GetAppointment", {
      appointmentId: move.appointment.appointmentId,
    });
    expect(appointment).toMatchObject({ status, version: expectedVersion });
    await expectRefusal(move, { expectedVersion }, 409, NOT_ALLOWED);
  });

  test("keeps an appointment that has begun where it is, and not one that is about to", async () => {
    for (const [waitMs, hasBegun] of [[FIVE_MINUTES_MS, true] as const, [FIVE_MINUTES_MS - 60_000, false] as const]) {
      const { clinic, appointment } = await prepareMove(service);
      service.advance(Date.parse(appointment.startsAt) - FIVE_MINUTES_MS - service.now());
      const tomorrow = { dateFrom: day(clinic, 1), dateTo: day(clinic, 1) };
      const options = await optionsFor(clinic, { appointmentId: appointment.appointmentId, ...tomorrow });
      service.advance(waitMs);
      const move = { clinic, appointment, options };
      if (hasBegun) await expectRefusal(move, {}, 409, NOT_ALLOWED);
      else await expectMoved(move);
    }
  });
});

describe("409 PATIENT_NOT_ACTIVE", () => {
  test("refuses a patient who is not active, until they are again", async () => {
    const move = await prepareMove(service);
    const { patientId } = move.appointment;
    await mustCall(move.clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    await expectRefusal(move, {}, 409, ["appointmentId PATIENT_NOT_ACTIVE"]);
    await mustCall(move.clinic, "SetPatientStatus", { patientId, status: "ACTIVE", expectedVersion: 2 });
    await expectMoved(move);
  });

  test("refuses a patient who has died", async () => {
    const move = await prepareMove(service);
    const { patientId } = move.appointment;
    await mustCall(move.clinic, "SetPatientStatus", { patientId, status: "DECEASED", expectedVersion: 1 });
    await expectRefusal(move, {}, 409, ["appointmentId PATIENT_NOT_ACTIVE"]);
  });
});

describe("409 SAME_SLOT", () => {
  test("refuses the slot that the appointment was moved to by another token of it", async () => {
    const move = await prepareMove(service);
    const again = {
      ...move,
      options: await optionsFor(move.clinic, { appointmentId: move.appointment.appointmentId }),
    };
    await expectMoved(move);
    await expectRefusal(again, { expectedVersion: 2 }, 409, ["optionToken SAME_SLOT"]);
    await expectMoved(move, { optionToken: tokenOf(move, 1), expectedVersion: 2 });
    await expectMoved(again, { expectedVersion: 3 });
  });
});

describe("409 SLOT_OCCUPIED", () => {
  test("refuses a slot that somebody else has, until it is free again", async () => {
    const move = await prepareMove(service);
    const other = await bookFirst(move.clinic, await makers.createPatient(service));
    await expectRefusal(move, {}, 409, ["optionToken SLOT_OCCUPIED"]);
    await cancel(move.clinic, other);
    await expectMoved(move);
  });

  test("refuses an hour in which the practitioner is expected in another program", async () => {
    const move = await prepareMove(service);
    const { practitionerIds } = move.clinic;
    const elsewhere = await openClinic(service, { practitionerIds, rule: { startsAtLocal: "08:15:00" } });
    const other = await bookFirst(elsewhere, await makers.createPatient(service));
    expect(Date.parse(other.startsAt) - Date.parse(`${move.options[0]?.startsAt}`)).toBe(15 * 60_000);
    await expectRefusal(move, {}, 409, ["optionToken SLOT_OCCUPIED"]);
    await cancel(elsewhere, other);
    await expectMoved(move);
  });

  test("is what one of two is answered with who want one slot at once", async () => {
    const first = await prepareMove(service);
    const { clinic } = first;
    const appointment = await bookFirst(clinic, await makers.createPatient(service), {}, 6);
    const second = {
      clinic,
      appointment,
      options: await optionsFor(clinic, { appointmentId: appointment.appointmentId }),
    };
    const versions = [1, 1];
    for (let i = 0; i < 6; i++) {
      const at = first.options[i]?.startsAt;
      const attempts = [first, second].map((move, who) => {
        const optionToken = move.options.find(({ startsAt }) => startsAt === at)?.optionToken;
        return sendMove(move, { optionToken, expectedVersion: versions[who] });
      });
      const outcomes = (await Promise.all(attempts)).map(summaryOf);
      expect(outcomes.toSorted()).toEqual(["200", "409 optionToken SLOT_OCCUPIED"]);
      const winner = outcomes.indexOf("200");
      versions[winner] = (versions[winner] ?? 0) + 1;
    }
  });
});

describe("409 CAPACITY_EXHAUSTED", () => {
  test("refuses a day whose capacity is used up, until some is given back", async () => {
    const { clinic, appointment } = await prepareMove(service, { rule: { dailyCapacity: 1 } });
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const move = {
      clinic,
      appointment,
      options: await optionsFor(clinic, { appointmentId: appointment.appointmentId, ...dates }),
    };
    const other = await bookFirst(clinic, await makers.createPatient(service), dates, 4);
    await expectRefusal(move, {}, 409, ["optionToken CAPACITY_EXHAUSTED"]);
    await cancel(clinic, other);
    await expectMoved(move);
  });

  test("refuses a day whose capacity is now below what is booked, all of which stays", async () => {
    const { clinic, appointment } = await prepareMove(service);
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const move = {
      clinic,
      appointment,
      options: await optionsFor(clinic, { appointmentId: appointment.appointmentId, ...dates }),
    };
    const booked = [];
    for (const skip of [3, 4]) booked.push(await bookFirst(clinic, await makers.createPatient(service), dates, skip));
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, dailyCapacity: 1, expectedVersion: 1 });
    await expectRefusal(move, {}, 409, ["optionToken CAPACITY_EXHAUSTED"]);
    for (const { appointmentId, startsAt } of booked) {
      const { appointment: kept } = await mustCall(clinic, "GetAppointment", { appointmentId });
      expect(kept).toMatchObject({ status: "PENDING", version: 1, startsAt, retained: false });
    }
  });
});

describe("409 PATIENT_OVERLAP", () => {
  test("refuses an hour in which the patient is expected elsewhere, but for the appointment itself", async () => {
    const move = await prepareMove(service);
    const elsewhere = await openClinic(service, { rule: { startsAtLocal: "08:15:00" } });
    const other = await bookFirst(elsewhere, move.appointment.patientId);
    await expectRefusal(move, {}, 409, ["optionToken PATIENT_OVERLAP"]);
    await cancel(elsewhere, other);
    await expectMoved(move);
  });
});

/** Takes an appointment these steps on and gives the version that it then has. */
async function take(steps: readonly string[], clinic: Clinic, appointment: AppointmentBody): Promise<number> {
  const reasons: Readonly<Record<string, () => Promise<JsonObject>>> = {
    CancelAppointment: async () => ({ cancellationReasonId: await makers.cancellationReason.create(service, {}) }),
    MarkAppointmentNoShow: async () => ({ noShowReasonId: await makers.noShowReason.create(service, {}) }),
  };
  for (const [i, step] of steps.entries()) {
    awaitStep(clinic, step, appointment);
    const request = { appointmentId: appointment.appointmentId, expectedVersion: i + 1, ...(await reasons[step]?.()) };
    await mustCall(clinic, step, request);
  }
  return steps.length + 1;
}

import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
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
import { closeConsistent } from "../schedule/invariants.js";
import { messagesOf } from "../support/problem.js";
import { startTestService, type TestService } from "../support/service.js";
import { cancel, expectMoved, expectRefusal, prepareMove, sendMove, tokenOf } from "./reschedule-appointment-moves.js";

const NOT_ALLOWED = ["appointmentId STATE_NOT_ALLOWED"];
const FIVE_MINUTES_MS = 5 * 60_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service));

describe("409 STALE_VERSION", () => {
  test("names the current version and changes nothing, not even the token", async () => {
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

  test("is the answer to all but one of several concurrent moves of an appointment", async () => {
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
  ])("does not move an appointment with status %s", async (status, steps) => {
    const move = await prepareMove(service);
    const expectedVersion = await take(steps, move.clinic, move.appointment);
    const { appointment } = await mustCall(move.clinic, "GetAppointment", {
      appointmentId: move.appointment.appointmentId,
    });
    expect(appointment).toMatchObject({ status, version: expectedVersion });
    await expectRefusal(move, { expectedVersion }, 409, NOT_ALLOWED);
  });

  test("does not move an appointment that has begun, but moves one that is about to begin", async () => {
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
  test("rejects an inactive patient until they are active again", async () => {
    const move = await prepareMove(service);
    const { patientId } = move.appointment;
    await mustCall(move.clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    await expectRefusal(move, {}, 409, ["appointmentId PATIENT_NOT_ACTIVE"]);
    await mustCall(move.clinic, "SetPatientStatus", { patientId, status: "ACTIVE", expectedVersion: 2 });
    await expectMoved(move);
  });

  test("rejects a deceased patient", async () => {
    const move = await prepareMove(service);
    const { patientId } = move.appointment;
    await mustCall(move.clinic, "SetPatientStatus", { patientId, status: "DECEASED", expectedVersion: 1 });
    await expectRefusal(move, {}, 409, ["appointmentId PATIENT_NOT_ACTIVE"]);
  });
});

describe("409 SAME_SLOT", () => {
  test("rejects another token of the slot that the appointment was moved to", async () => {
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
  test("rejects an occupied slot until it is free again", async () => {
    const move = await prepareMove(service);
    const other = await bookFirst(move.clinic, await fixtures.createPatient(service));
    await expectRefusal(move, {}, 409, ["optionToken SLOT_OCCUPIED"]);
    expect(messagesOf(await sendMove(move))).toEqual([expect.stringMatching(/has taken the slot/)]);
    await cancel(move.clinic, other);
    await expectMoved(move);
  });

  test("rejects a time at which the practitioner has an appointment in another program", async () => {
    const move = await prepareMove(service);
    const { practitionerIds } = move.clinic;
    const elsewhere = await openClinic(service, { practitionerIds, rule: { startsAtLocal: "08:15:00" } });
    const other = await bookFirst(elsewhere, await fixtures.createPatient(service));
    expect(Date.parse(other.startsAt) - Date.parse(`${move.options[0]?.startsAt}`)).toBe(15 * 60_000);
    await expectRefusal(move, {}, 409, ["optionToken SLOT_OCCUPIED"]);
    expect(messagesOf(await sendMove(move))).toEqual([expect.stringMatching(/the practitioner has another/)]);
    await cancel(elsewhere, other);
    await expectMoved(move);
  });

  test("is the answer to one of two concurrent moves to the same slot", async () => {
    const first = await prepareMove(service);
    const { clinic } = first;
    const appointment = await bookFirst(clinic, await fixtures.createPatient(service), {}, 6);
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
  test("rejects a day whose capacity is exhausted, until a unit is free", async () => {
    const { clinic, appointment } = await prepareMove(service, { rule: { dailyCapacity: 1 } });
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const move = {
      clinic,
      appointment,
      options: await optionsFor(clinic, { appointmentId: appointment.appointmentId, ...dates }),
    };
    const other = await bookFirst(clinic, await fixtures.createPatient(service), dates, 4);
    await expectRefusal(move, {}, 409, ["optionToken CAPACITY_EXHAUSTED"]);
    await cancel(clinic, other);
    await expectMoved(move);
  });

  test("rejects a day whose capacity was lowered below its bookings, which all stay", async () => {
    const { clinic, appointment } = await prepareMove(service);
    const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const move = {
      clinic,
      appointment,
      options: await optionsFor(clinic, { appointmentId: appointment.appointmentId, ...dates }),
    };
    const booked = [];
    for (const skip of [3, 4]) booked.push(await bookFirst(clinic, await fixtures.createPatient(service), dates, skip));
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, dailyCapacity: 1, expectedVersion: 1 });
    await expectRefusal(move, {}, 409, ["optionToken CAPACITY_EXHAUSTED"]);
    for (const { appointmentId, startsAt } of booked) {
      const { appointment: kept } = await mustCall(clinic, "GetAppointment", { appointmentId });
      expect(kept).toMatchObject({ status: "PENDING", version: 1, startsAt, displaced: false });
    }
  });
});

describe("409 PATIENT_OVERLAP", () => {
  test("rejects a time at which the patient has another appointment, but not the one that moves", async () => {
    const move = await prepareMove(service);
    const elsewhere = await openClinic(service, { rule: { startsAtLocal: "08:15:00" } });
    const other = await bookFirst(elsewhere, move.appointment.patientId);
    await expectRefusal(move, {}, 409, ["optionToken PATIENT_OVERLAP"]);
    await cancel(elsewhere, other);
    await expectMoved(move);
  });
});

/** Takes the steps on an appointment. Returns its version after them. */
async function take(steps: readonly string[], clinic: Clinic, appointment: AppointmentBody): Promise<number> {
  const reasons: Readonly<Record<string, () => Promise<JsonObject>>> = {
    CancelAppointment: async () => ({ cancellationReasonId: await fixtures.cancellationReason.create(service, {}) }),
    MarkAppointmentNoShow: async () => ({ noShowReasonId: await fixtures.noShowReason.create(service, {}) }),
  };
  for (const [i, step] of steps.entries()) {
    awaitStep(clinic, step, appointment);
    const request = { appointmentId: appointment.appointmentId, expectedVersion: i + 1, ...(await reasons[step]?.()) };
    await mustCall(clinic, step, request);
  }
  return steps.length + 1;
}

import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { type AppointmentBody, appointmentIn, bookFirst, call, day, mustCall } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { type Morning, openMorning } from "./late-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { countsOf } from "./timed-bookings.js";

let service: TestService;
let morning: Morning;
/** At 8:00, booked at 7:30. */
let appointment: AppointmentBody;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  morning = await openMorning(service);
  appointment = await booked();
  morning.goTo("12:30");
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("EnterLateSteps", () => {
  test("checks in and attends an appointment at the given times, and marks it", async () => {
    expect(appointmentIn(await enter())).toMatchObject({ status: "ATTENDED", version: 3, lateEntry: true });
    const { changes } = await mustCall(morning.clinic, "ListAppointmentChanges", idOf(appointment));
    const recorded = { changedAt: morning.at("12:30"), correctionReason: morning.reason };
    expect(changes).toMatchObject([
      { toStatus: "PENDING" },
      { fromStatus: "PENDING", toStatus: "CHECKED_IN", happenedAt: morning.at("07:50"), ...recorded },
      { fromStatus: "CHECKED_IN", toStatus: "ATTENDED", happenedAt: morning.at("08:05"), ...recorded },
    ]);
  });

  test("writes an event for each step", async () => {
    await enter();
    const { body } = await callRpc(service, EventService.method.listEvents, { start: "OLDEST", pageSize: 200 });
    const ofIt = (body["events"] as JsonObject[]).filter((each) => each["resourceId"] === appointment.appointmentId);
    expect(ofIt.map(({ type, resourceVersion }) => [type, resourceVersion])).toEqual([
      ["cupo.appointment.created", 1],
      ["cupo.appointment.updated", 2],
      ["cupo.appointment.updated", 3],
    ]);
  });

  test("attends an appointment that was checked in before, not before its check-in", async () => {
    morning.goTo("07:45");
    await mustCall(morning.clinic, "CheckInAppointment", { ...idOf(appointment), expectedVersion: 1 });
    morning.goTo("12:30");
    const attendedAt = (time: string) => ({ expectedVersion: 2, arrivedAt: undefined, attendedAt: morning.at(time) });
    expectRefusal(await enter(attendedAt("07:44")), 422, ["attendedAt INVALID_RANGE"]);
    expect(appointmentIn(await enter(attendedAt("07:45")))).toMatchObject({ status: "ATTENDED", version: 3 });
  });

  test("takes the present instant, and an arrival and a visit at the same one", async () => {
    const now = morning.at("12:30");
    expect(appointmentIn(await enter({ arrivedAt: now, attendedAt: now }))).toMatchObject({ status: "ATTENDED" });
  });

  test("needs no active patient for a no-show, or once the patient was there", async () => {
    morning.goTo("07:45");
    const seen = await booked();
    await mustCall(morning.clinic, "CheckInAppointment", { ...idOf(seen), expectedVersion: 1 });
    morning.goTo("12:30");
    for (const { patientId } of [appointment, seen])
      await mustCall(morning.clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expect(appointmentIn(await enter(await noShow("08:20")))).toMatchObject({ status: "NO_SHOW" });
    const attended = { ...idOf(seen), expectedVersion: 2, arrivedAt: undefined, attendedAt: morning.at("08:40") };
    expect(appointmentIn(await enter(attended))).toMatchObject({ status: "ATTENDED" });
  });

  test("leaves a displaced appointment displaced", async () => {
    morning.goTo("07:30");
    const { practitionerId, startsAt, endsAt } = appointment;
    await mustCall(morning.clinic, "CreateScheduleBlock", { practitionerId, kind: "ILLNESS", startsAt, endsAt });
    morning.goTo("12:30");
    expect(appointmentIn(await enter())).toMatchObject({ status: "ATTENDED", displaced: true });
  });

  test("enters a no-show, which frees the slot and the capacity", async () => {
    const missed = appointmentIn(await enter(await noShow("08:20")));
    expect(missed).toMatchObject({ status: "NO_SHOW", version: 2, lateEntry: true });
    expect(await countsOf(service, morning.clinic)).toEqual({ counted: 0, beside: 0 });
  });
});

describe("EnterLateSteps answers 422", () => {
  test("to times that are in the future, on another day, or not in order", async () => {
    const wrong = { arrivedAt: morning.at("23:00", 1), attendedAt: morning.at("12:31") };
    expectRefusal(await enter(wrong), 422, ["arrivedAt OUT_OF_RANGE", "attendedAt OUT_OF_RANGE"]);
    expectRefusal(await enter({ attendedAt: morning.at("07:49") }), 422, ["attendedAt INVALID_RANGE"]);
  });

  test("to an arrival with a no-show, and to nothing", async () => {
    const both = { ...(await noShow("08:20")), arrivedAt: morning.at("07:50") };
    expectRefusal(await enter(both), 422, ["noShowAt INVALID_VALUE"]);
    expectRefusal(await enter({ arrivedAt: undefined, attendedAt: undefined }), 422, ["noShowAt INVALID_VALUE"]);
  });

  test("to a no-show reason that requires a comment", async () => {
    const id = await fixtures.noShowReason.create(service, {});
    await service.query(`UPDATE no_show_reasons SET requires_comment = true WHERE id = '${id}'`);
    const missed = { ...(await noShow("08:20")), noShowReasonId: id };
    expectRefusal(await enter(missed), 422, ["comment REQUIRED"]);
    appointmentIn(await enter({ ...missed, comment: "No contestó." }));
  });
});

describe("EnterLateSteps answers 409", () => {
  test("to a stale version", async () => {
    expectRefusal(await enter({ expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
  });

  test("to steps that the status does not allow", async () => {
    const only = { arrivedAt: undefined, attendedAt: morning.at("08:05") };
    expectRefusal(await enter(only), 409, ["appointmentId STATE_NOT_ALLOWED"]);
    appointmentIn(await enter());
    expectRefusal(await enter({ expectedVersion: 3 }), 409, ["appointmentId STATE_NOT_ALLOWED"]);
  });

  test("to steps before their earliest time, and to a patient who is not active, and names all", async () => {
    const { patientId } = appointment as unknown as { patientId: string };
    await mustCall(morning.clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    const early = { arrivedAt: morning.at("03:59"), attendedAt: morning.at("06:59") };
    expectRefusal(await enter(early), 409, [
      "appointmentId PATIENT_NOT_ACTIVE",
      "arrivedAt TOO_EARLY",
      "attendedAt TOO_EARLY",
    ]);
  });

  test("more than seven days after the appointment", async () => {
    morning.goTo("00:00", 8);
    expectRefusal(await enter(), 409, ["appointmentId TOO_LATE"]);
    morning.goTo("23:59", 7);
    appointmentIn(await enter());
  });
});

async function booked(): Promise<AppointmentBody> {
  const today = { dateFrom: day(morning.clinic, 0), dateTo: day(morning.clinic, 0) };
  return bookFirst(morning.clinic, await fixtures.createPatient(service), today);
}

function stepsOf({ appointmentId }: Pick<AppointmentBody, "appointmentId">) {
  const times = { arrivedAt: morning.at("07:50"), attendedAt: morning.at("08:05") };
  return { appointmentId, expectedVersion: 1, ...times, reason: morning.reason };
}

async function enter(changes: Readonly<Record<string, string | number | undefined>> = {}) {
  const request = Object.entries({ ...stepsOf(appointment), ...changes }).filter(([, value]) => value !== undefined);
  return call(morning.clinic, "EnterLateSteps", Object.fromEntries(request));
}

async function noShow(time: string) {
  const noShowReasonId = await fixtures.noShowReason.create(service, {});
  return { arrivedAt: undefined, attendedAt: undefined, noShowAt: morning.at(time), noShowReasonId };
}

function idOf({ appointmentId }: AppointmentBody) {
  return { appointmentId };
}

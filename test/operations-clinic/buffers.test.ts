import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { summaryOf } from "../contract/send.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  type Clinic,
  call,
  day,
  everyMorning,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { hold, holdFirst, holdIn } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { bookedIn, seriesOf } from "./series-requests.js";
import { at, timedBooking } from "./timed-bookings.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("UpdateAppointmentTypeBuffer", () => {
  test("changes the buffer, which is 0 before", async () => {
    const [clinic, appointmentTypeId] = [await openClinic(service), await newType()];
    const { appointmentType: before } = await mustCall(clinic, "GetAppointmentType", { appointmentTypeId });
    expect(before).toMatchObject({ bufferMinutes: 0, version: 1 });
    const answer = await setBuffer(clinic, appointmentTypeId, 240, 1);
    expect(answer.body["appointmentType"]).toMatchObject({ appointmentTypeId, bufferMinutes: 240, version: 2 });
    expectRefusal(await setBuffer(clinic, appointmentTypeId, 10, 1), 409, ["expectedVersion STALE_VERSION"]);
    expectRefusal(await setBuffer(clinic, appointmentTypeId, 241, 2), 422, ["bufferMinutes OUT_OF_RANGE"]);
    expectRefusal(await setBuffer(clinic, appointmentTypeId, -1, 2), 422, ["bufferMinutes OUT_OF_RANGE"]);
    expectRefusal(await call(clinic, "UpdateAppointmentTypeBuffer", {}), 422, [
      "appointmentTypeId REQUIRED",
      "expectedVersion REQUIRED",
      "bufferMinutes REQUIRED",
    ]);
    const { appointmentType } = await mustCall(clinic, "GetAppointmentType", { appointmentTypeId });
    expect(appointmentType).toMatchObject({ bufferMinutes: 240, version: 2 });
  });

  test("leaves appointments as they are", async () => {
    const { clinic, type, patientId } = await prepare(0);
    const { appointmentId } = await bookAt(clinic, "08:00", { ...type, patientId });
    await setBuffer(clinic, type.appointmentTypeId, 30, 2);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(timesOf(appointment as unknown as AppointmentBody)).toBe("08:00-08:30");
    expect(await freeTimes(clinic)).toEqual(["08:30", "09:00", "09:30"]);
  });
});

describe("an appointment of a type with a buffer", () => {
  test.each([
    [0, ["08:00-08:30", "08:30-09:00", "09:00-09:30", "09:30-10:00"]],
    [1, ["08:00-08:30", "08:30-09:00", "09:00-09:30"]],
    [30, ["08:00-08:30", "08:30-09:00", "09:00-09:30"]],
    [31, ["08:00-08:30", "08:30-09:00"]],
    [90, ["08:00-08:30"]],
    [91, []],
  ])("is offered where slots for its visit and its buffer of %i minutes follow", async (minutes, times) => {
    const { clinic, type, patientId } = await prepare(minutes);
    expect((await optionsFor(clinic, { patientId, ...type })).map(timesOf)).toEqual(times);
  });

  test("ends before its buffer, whose slots nobody else is offered, and gives all back", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const [option] = await optionsFor(clinic, { patientId, ...type });
    const { appointmentId, ...booked } = appointmentIn(await book(clinic, patientId, `${option?.optionToken}`, type));
    expect(timesOf(booked)).toBe("08:00-08:30");
    expect(await freeTimes(clinic)).toEqual(["09:00", "09:30"]);
    const other = await timedBooking(clinic, { startsAt: at(clinic, "08:30") });
    expect(summaryOf(await call(clinic, "BookAppointmentAt", other))).toBe("409 startsAt SLOT_OCCUPIED");
    await cancel(clinic, appointmentId, 1);
    expect(await freeTimes(clinic)).toEqual(["08:00", "08:30", "09:00", "09:30"]);
    const undo = { appointmentId, expectedVersion: 2, status: "PENDING", reason: "Llamó de nuevo." };
    expect(timesOf(appointmentIn(await call(clinic, "CorrectAppointmentStatus", undo)))).toBe("08:00-08:30");
    expect(await freeTimes(clinic)).toEqual(["09:00", "09:30"]);
  });

  test("cannot use an option that has no slots for the buffer: 422", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const [option] = await optionsFor(clinic, { patientId });
    const answer = await book(clinic, patientId, `${option?.optionToken}`, type);
    expect(summaryOf(answer)).toBe("422 optionToken INVALID_OPTION");
  });

  test("needs slots for its buffer at the end of the day too: 422", async () => {
    const { clinic, type } = await prepare(30);
    const last = await timedBooking(clinic, { ...type, startsAt: at(clinic, "09:30") });
    expect(summaryOf(await call(clinic, "BookAppointmentAt", last))).toBe("422 startsAt INVALID_VALUE");
  });

  test("keeps its practitioner from other programs in the buffer, and leaves its patient free", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const elsewhere = await openClinic(service, { practitionerIds: clinic.practitionerIds, rule: FOUR });
    const colleague = await openClinic(service, { rule: FOUR });
    await bookAt(clinic, "08:30", { ...type, patientId });
    expect(await freeTimes(elsewhere)).toEqual(["08:00", "09:30"]);
    const times = (await optionsFor(colleague, { patientId })).map(timesOf);
    expect(times).toEqual(["08:00-08:30", "09:00-09:30", "09:30-10:00"]);
    const next = await bookAt(colleague, "09:00", { patientId });
    expect(timesOf(next)).toBe("09:00-09:30");
  });

  test("is offered and booked where its patient has the next appointment in the buffer", async () => {
    const { clinic, type, patientId } = await prepare(30);
    await bookAt(await openClinic(service, { rule: FOUR }), "08:30", { patientId });
    const [option, ...others] = await optionsFor(clinic, { patientId, ...type });
    expect([option, ...others].map((each) => each && timesOf(each))).toEqual(["08:00-08:30", "09:00-09:30"]);
    const { appointmentId } = appointmentIn(await book(clinic, patientId, `${option?.optionToken}`, type));
    await cancel(clinic, appointmentId, 1);
    expect(timesOf(await bookAt(clinic, "08:00", { ...type, patientId }))).toBe("08:00-08:30");
  });

  test("is rescheduled with its buffer over REST, where it fits", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const { appointmentId } = await bookAt(clinic, "08:00", { ...type, patientId });
    await bookAt(await openClinic(service, { rule: FOUR }), "09:30", { patientId });
    const options = await optionsFor(clinic, { appointmentId });
    expect(options.map(timesOf)).toEqual(["09:00-09:30"]);
    const moved = await service.request("POST", `/appointments/${appointmentId}/reschedule`, {
      body: { optionToken: `${options[0]?.optionToken}`, expectedVersion: 1 },
    });
    expect([moved.status, timesOf(moved.body as unknown as AppointmentBody)]).toEqual([200, "09:00-09:30"]);
    expect(await freeTimes(clinic)).toEqual(["08:00", "08:30"]);
  });

  test("moves only to times that are as long, unlike an appointment of one slot without a buffer", async () => {
    const [clinic, appointmentTypeId] = [await openClinic(service, { rule: FOUR }), await newType()];
    const { appointmentId } = await bookAt(clinic, "08:00");
    await setBuffer(clinic, appointmentTypeId, 10, 1);
    const fixed = await bookAt(clinic, "08:30", { appointmentTypeId, durationMinutes: 20 });
    const short = { startsAtLocal: "13:00", endsAtLocal: "13:40", slotDurationMinutes: 20 };
    await fixtures.createRule(service, clinic.programId, { ...everyMorning, ...short, dailyCapacity: 2 });
    const timesFor = async (id: string) => (await optionsFor(clinic, { appointmentId: id })).map(timesOf);
    expect(await timesFor(appointmentId)).toEqual(["09:00-09:30", "09:30-10:00", "13:00-13:20", "13:20-13:40"]);
    expect(await timesFor(fixed.appointmentId)).toEqual(["09:00-09:30", "09:30-10:00", "13:00-13:40"]);
  });

  test("takes and gives slots back when its type or duration changes in place", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const plain = await bookAt(clinic, "08:00", { patientId });
    const change = async (version: number, changes: JsonObject) => {
      const request = { appointmentId: plain.appointmentId, expectedVersion: version, ...changes };
      return [timesOf(appointmentIn(await call(clinic, "ChangeAppointment", request))), await freeTimes(clinic)];
    };
    expect(await change(1, type)).toEqual(["08:00-08:30", ["09:00", "09:30"]]);
    expect(await change(2, { durationMinutes: 60 })).toEqual(["08:00-09:00", ["09:30"]]);
    expect(await change(3, { modality: "PHONE" })).toEqual(["08:00-09:00", ["09:30"]]);
    const back = { appointmentTypeId: clinic.appointmentTypeId };
    expect(await change(4, back)).toEqual(["08:00-08:30", ["08:30", "09:00", "09:30"]]);
    await bookAt(clinic, "08:30");
    const taken = { appointmentId: plain.appointmentId, expectedVersion: 5, ...type };
    expect(summaryOf(await call(clinic, "ChangeAppointment", taken))).toBe("409 durationMinutes SLOT_OCCUPIED");
  });

  test("is held with its buffer, and booked from the hold", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const [option] = await optionsFor(clinic, { patientId, ...type });
    const held = holdIn(await hold(clinic, `${option?.optionToken}`, { minutes: 5 }));
    expect(timesOf(held)).toBe("08:00-09:00");
    expect(await freeTimes(clinic)).toEqual(["09:00", "09:30"]);
    expect(timesOf(appointmentIn(await book(clinic, patientId, held.optionToken, type)))).toBe("08:00-08:30");
    expect(await freeTimes(clinic)).toEqual(["09:00", "09:30"]);
  });

  test("leaves its patient free in its buffer while it is held, to book or to move", async () => {
    const { clinic, type, patientId } = await prepare(30);
    const colleague = await openClinic(service, { rule: FOUR });
    const timesElsewhere = async () => (await optionsFor(colleague, { patientId })).map(timesOf);
    const { holdId } = await holdFirst(clinic, { patientId, ...type });
    expect(await timesElsewhere()).toEqual(["08:30-09:00", "09:00-09:30", "09:30-10:00"]);
    await mustCall(clinic, "ReleaseHold", { holdId });
    const { appointmentId } = await bookAt(clinic, "09:00", { ...type, patientId });
    await holdFirst(clinic, { appointmentId });
    expect(await timesElsewhere()).toEqual(["08:30-09:00", "09:30-10:00"]);
    await bookAt(colleague, "08:30", { patientId });
  });

  test.each([
    ["alone", []],
    ["with an alternative", [{}]],
  ])("is held where its patient has the next appointment in the buffer, %s", async (_, more) => {
    const { clinic, type, patientId } = await prepare(30);
    await bookAt(await openClinic(service, { rule: FOUR }), "08:30", { patientId });
    const [option, other] = await optionsFor(clinic, { patientId, ...type });
    const alternativeOptionTokens = more.map(() => `${other?.optionToken}`);
    const held = holdIn(await hold(clinic, `${option?.optionToken}`, { alternativeOptionTokens }));
    expect(held.startsAt).toBe(option?.startsAt);
    expect(timesOf(appointmentIn(await book(clinic, patientId, held.optionToken, type)))).toBe("08:00-08:30");
  });

  test("is booked and moved in a series, and back to back with its buffer", async () => {
    const { clinic, type } = await prepare(30);
    const { seriesId, appointments } = bookedIn(await call(clinic, "BookSeries", await seriesOf(clinic, type)));
    expect(appointments.map(timesOf)).toEqual(["08:00-08:30", "08:00-08:30"]);
    expect(await freeTimes(clinic)).toEqual(["09:00", "09:30"]);
    const from = { fromAppointmentId: `${appointments[0]?.appointmentId}`, expectedVersion: 1 };
    const moved = await call(clinic, "MoveSeries", { seriesId, ...from, startsAt: at(clinic, "08:30") });
    expect(bookedIn(moved).appointments.map(timesOf)).toEqual(["08:30-09:00", "08:30-09:00"]);
    expect(await freeTimes(clinic)).toEqual(["08:00", "09:30"]);
    const { patientId: _, appointmentTypeId: __, ...place } = await timedBooking(clinic);
    const { appointmentTypeId } = type;
    const visits = [await newPatient(), await newPatient()].map((patientId) => ({ patientId, appointmentTypeId }));
    const together = { ...place, visits, startsAt: at(clinic, "08:00").replace(day(clinic, 2), day(clinic, 4)) };
    const booked = bookedIn(await call(clinic, "BookTogether", together));
    expect(booked.appointments.map(timesOf)).toEqual(["08:00-08:30", "09:00-09:30"]);
  });

  test("keeps its buffer when two practitioners swap, and when a colleague takes over", async () => {
    const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, {})));
    const { clinic, type, patientId } = await prepare(30, practitionerIds);
    const [practitionerId, otherPractitionerId] = practitionerIds.map(String);
    const { appointmentId } = await bookAt(clinic, "08:00", { ...type, patientId });
    const { programId } = clinic;
    const span = { startsAt: at(clinic, "08:00"), endsAt: at(clinic, "09:00") };
    const pair = { practitionerId: `${practitionerId}`, otherPractitionerId: `${otherPractitionerId}` };
    const { appointments } = await mustCall(clinic, "SwapPractitioners", { programId, ...span, ...pair });
    expect((appointments as unknown as AppointmentBody[]).map(timesOf)).toEqual(["08:00-08:30"]);
    const block = { kind: "ILLNESS", practitionerId: `${otherPractitionerId}`, ...span };
    await mustCall(clinic, "CreateScheduleBlock", block);
    const { outcomes } = await mustCall(clinic, "SubstitutePractitioner", {
      practitionerId: `${practitionerId}`,
      choices: [{ appointmentId, expectedVersion: 2 }],
    });
    const [{ appointment }] = outcomes as unknown as [{ appointment: AppointmentBody }];
    expect([timesOf(appointment), appointment.practitionerId]).toEqual(["08:00-08:30", practitionerId]);
    expect(await foundByTheService(service)).toEqual([]);
  });

  test("has no buffer beside the schedule", async () => {
    const { clinic, type } = await prepare(30);
    await bookAt(clinic, "08:00", type);
    const request = { ...(await timedBooking(clinic, { ...type, startsAt: at(clinic, "08:30") })), reason: "Urgente." };
    const beside = appointmentIn(await call(clinic, "OverbookAppointment", request));
    expect([timesOf(beside), await freeTimes(clinic)]).toEqual(["08:30-09:00", ["09:00", "09:30"]]);
  });
});

const FOUR: JsonObject = { endsAtLocal: "10:00:00" };

/** Opens a clinic with four slots of half an hour, a patient and a type of 30 minutes with a buffer. */
async function prepare(bufferMinutes: number, practitionerIds?: readonly string[]) {
  const of = practitionerIds === undefined ? {} : { practitionerIds };
  const [clinic, patientId, appointmentTypeId] = await Promise.all([
    openClinic(service, { rule: FOUR, ...of }),
    newPatient(),
    newType(),
  ]);
  await setBuffer(clinic, appointmentTypeId, bufferMinutes, 1);
  return { clinic, patientId, type: { appointmentTypeId } };
}

function newPatient(): Promise<string> {
  return fixtures.createPatient(service);
}

function newType(): Promise<string> {
  return fixtures.appointmentType.create(service, {});
}

function setBuffer(clinic: Clinic, appointmentTypeId: string, bufferMinutes: number, expectedVersion: number) {
  return call(clinic, "UpdateAppointmentTypeBuffer", { appointmentTypeId, bufferMinutes, expectedVersion });
}

async function bookAt(clinic: Clinic, time: string, changes: JsonObject = {}): Promise<AppointmentBody> {
  const request = await timedBooking(clinic, { startsAt: at(clinic, time), ...changes });
  return appointmentIn(await call(clinic, "BookAppointmentAt", request));
}

async function cancel(clinic: Clinic, appointmentId: string, expectedVersion: number): Promise<void> {
  const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
  await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion, cancellationReasonId });
}

/** Returns when the slots begin that are offered to a patient without appointments. */
async function freeTimes(clinic: Clinic): Promise<string[]> {
  const options = await optionsFor(clinic, { patientId: await newPatient() });
  return options.map((each) => timesOf(each).slice(0, 5));
}

/** Returns a time in Bogotá. */
function timesOf({ startsAt, endsAt }: { readonly startsAt: string; readonly endsAt: string }): string {
  return [startsAt, endsAt]
    .map((time) => new Date(Date.parse(time) - 5 * 3_600_000).toISOString().slice(11, 16))
    .join("-");
}

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, book, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { type HoldBody, hold, holdFirst, holdIn } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { timedBooking } from "./timed-bookings.js";

const MINUTE_MS = 60_000;

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  service.stopAt(service.now());
  clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  patientId = await newPatient();
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("at the instant at which a hold expires", () => {
  test("it can neither be booked nor released, but could a millisecond earlier", async () => {
    for (const end of [
      (held: HoldBody) => book(clinic, patientId, held.optionToken),
      ({ holdId }: HoldBody) => call(clinic, "ReleaseHold", { holdId }),
    ]) {
      const [late, inTime] = [await holdFirst(clinic, { patientId }), await holdFirst(clinic, { patientId })];
      service.stopAt(Date.parse(late.expiresAt));
      expect((await end(late)).status).toBeGreaterThan(400);
      service.stopAt(Date.parse(inTime.expiresAt) - 1);
      expect((await end(inTime)).status).toBe(200);
    }
  });

  test("another patient can hold its time", async () => {
    const held = await holdFirst(clinic, { patientId });
    service.stopAt(Date.parse(held.expiresAt));
    expect(await holdFirst(clinic)).toMatchObject({ startsAt: held.startsAt });
  });
});

test("a hold that was released keeps its end after it would have expired and others hold its time", async () => {
  const { holdId, startsAt } = await holdFirst(clinic, { patientId });
  const { hold: released } = await mustCall(clinic, "ReleaseHold", { holdId });
  service.stopAt(service.now() + 5 * MINUTE_MS);
  expect(await holdFirst(clinic)).toMatchObject({ startsAt });
  expect(await mustCall(clinic, "GetHold", { holdId })).toEqual({ hold: released });
});

test("only its own answer shows the token of a hold that a client asked for", async () => {
  const { holdId, optionToken } = await holdFirst(clinic, { patientId });
  expect(optionToken).not.toBe("");
  const { hold: read } = await mustCall(clinic, "GetHold", { holdId });
  expect(read).not.toHaveProperty("optionToken");
  expect(read).not.toHaveProperty("endedAt");
});

test("a call that only checks a hold shows no token", async () => {
  const [option] = await optionsFor(clinic, { patientId });
  const checked = holdIn(await hold(clinic, `${option?.optionToken}`, { validateOnly: true }));
  expect(checked).not.toHaveProperty("optionToken");
  const held = holdIn(await hold(clinic, `${option?.optionToken}`, { validateOnly: false }));
  expect(appointmentIn(await book(clinic, patientId, held.optionToken)).startsAt).toBe(held.startsAt);
});

test("alternatives that have all expired are gone: 410", async () => {
  const [option, other] = await optionsFor(clinic, { patientId });
  service.stopAt(service.now() + 10 * MINUTE_MS);
  const alternativeOptionTokens = [`${other?.optionToken}`];
  expectRefusal(await hold(clinic, `${option?.optionToken}`, { alternativeOptionTokens }), 410);
});

test("booking a hold of the last unit of its day lacks no capacity, even if the time was overbooked meanwhile", async () => {
  const own = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 1 } });
  const { optionToken } = await holdFirst(own, { patientId });
  await mustCall(own, "OverbookAppointment", { ...(await timedBooking(own)), reason: "Urgente." });
  expectRefusal(await book(own, patientId, optionToken), 409, ["optionToken SLOT_OCCUPIED"]);
});

test("an option that lost its second slot cannot be held or booked: 410", async () => {
  const appointmentTypeId = await fixtures.appointmentType.create(service, clinic.as);
  await mustCall(clinic, "UpdateAppointmentTypeBuffer", { appointmentTypeId, bufferMinutes: 30, expectedVersion: 1 });
  const [option] = await optionsFor(clinic, { patientId, appointmentTypeId });
  const [startsAt, endsAt] = ["08:30", "09:00"].map((time) => `${day(clinic, 2)}T${time}:00-05:00`);
  const block: JsonObject = {
    programId: clinic.programId,
    kind: "OTHER",
    startsAt: `${startsAt}`,
    endsAt: `${endsAt}`,
  };
  await mustCall(clinic, "CreateScheduleBlock", block);
  const token = `${option?.optionToken}`;
  expectRefusal(await hold(clinic, token), 410);
  expectRefusal(await book(clinic, patientId, token, { appointmentTypeId }), 410);
});

test("callers who hold one of the same long options at the same time all get one", async () => {
  const appointmentTypeId = await fixtures.appointmentType.create(service, clinic.as);
  await mustCall(clinic, "UpdateAppointmentTypeBuffer", { appointmentTypeId, bufferMinutes: 30, expectedVersion: 1 });
  const requests = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const options = await optionsFor(clinic, { patientId: await newPatient(), appointmentTypeId });
      return [0, 2, 4].map((index) => `${options[index]?.optionToken}`);
    }),
  );
  const answers = await Promise.all(
    requests.map(([first, ...alternativeOptionTokens]) => hold(clinic, `${first}`, { alternativeOptionTokens })),
  );
  const starts = answers.map((answer) => holdIn(answer).startsAt.slice(11, 16));
  expect(starts.toSorted()).toEqual(["13:00", "14:00", "15:00"]);
});

function newPatient(): Promise<string> {
  return fixtures.createPatient(service, {}, clinic.as);
}

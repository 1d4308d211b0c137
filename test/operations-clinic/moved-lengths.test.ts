import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  type Clinic,
  call,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { startTestService, type TestService } from "../support/service.js";
import { hold, holdIn } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

let service: TestService;
let clinic: Clinic;
let booked: AppointmentBody;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  booked = await bookAt(clinic, "08:00");
});

afterAll(() => closeConsistent(service, foundByTheService));

test("an option that is shorter than the appointment is since its change is rejected: 422", async () => {
  const [, first, second, third] = await optionsFor(clinic, { appointmentId: booked.appointmentId });
  const held = holdIn(await hold(clinic, `${second?.optionToken}`));
  await change({ durationMinutes: 60 }, 1);
  await change({ durationMinutes: 60 }, 2);
  const items = ["optionToken INVALID_OPTION"];
  for (const optionToken of [`${first?.optionToken}`, held.optionToken]) {
    expectRefusal(await move(optionToken, 3), 422, items);
  }
  const short = { alternativeOptionTokens: [`${third?.optionToken}`] };
  for (const tokens of [{}, short]) expectRefusal(await hold(clinic, `${first?.optionToken}`, tokens), 422, items);
  const long = (await optionsFor(clinic, { appointmentId: booked.appointmentId })).at(-1);
  const alternatives = { alternativeOptionTokens: [`${third?.optionToken}`, `${long?.optionToken}`] };
  const { optionToken, startsAt } = holdIn(await hold(clinic, `${first?.optionToken}`, alternatives));
  expect(startsAt).toBe(long?.startsAt);
  expect(appointmentIn(await move(optionToken, 3))).toMatchObject({ startsAt, endsAt: long?.endsAt });
});

test("an alternative whose buffer overlaps the patient's next appointment is held for a move", async () => {
  const appointmentTypeId = await fixtures.appointmentType.create(service, clinic.as);
  await mustCall(clinic, "UpdateAppointmentTypeBuffer", { appointmentTypeId, bufferMinutes: 30, expectedVersion: 1 });
  const { patientId } = booked;
  const { appointmentId } = await bookAt(clinic, "08:30", { patientId, appointmentTypeId });
  const elsewhere = await openClinic(service, { as: clinic.as });
  await bookAt(elsewhere, "11:00", { patientId });
  const options = await optionsFor(clinic, { appointmentId });
  const [first, ...others] = options;
  const tight = others.find(({ startsAt }) => Date.parse(startsAt) === Date.parse(at(clinic, "10:30")));
  await bookAt(clinic, "09:30");
  const answer = await hold(clinic, `${first?.optionToken}`, { alternativeOptionTokens: [`${tight?.optionToken}`] });
  expect(holdIn(answer).startsAt).toBe(tight?.startsAt);
});

test("an appointment of one slot without a buffer can move to a shorter slot, also to one of several", async () => {
  const { as, serviceId } = clinic;
  const other = await openClinic(service, { as, serviceId, rule: { slotDurationMinutes: 20 } });
  const { appointmentId } = booked;
  const options = await optionsFor(clinic, { appointmentId });
  const shorter = options.filter(({ programId }) => programId === other.programId);
  const [gone = "", next = ""] = shorter.map(({ optionToken }) => optionToken);
  await mustCall(clinic, "ReleaseHold", { holdId: holdIn(await hold(clinic, gone)).holdId });
  expect(holdIn(await hold(clinic, gone, { alternativeOptionTokens: [next] })).startsAt).toBe(shorter[1]?.startsAt);
});

test("an appointment of one slot that has a buffer since its change gets no shorter slot of several", async () => {
  const { as, serviceId, programId } = clinic;
  const other = await openClinic(service, { as, serviceId, rule: { slotDurationMinutes: 20 } });
  const options = await optionsFor(clinic, { appointmentId: booked.appointmentId });
  const shorter = options.find((option) => option.programId === other.programId);
  const long = options.find((option) => option.programId === programId);
  const id = await fixtures.appointmentType.create(service, as);
  await mustCall(clinic, "UpdateAppointmentType", { id, durationMinutes: 15, expectedVersion: 1 });
  const buffer = { appointmentTypeId: id, bufferMinutes: 15, expectedVersion: 2 };
  await mustCall(clinic, "UpdateAppointmentTypeBuffer", buffer);
  await change({ appointmentTypeId: id }, 1);
  const answer = await hold(clinic, `${shorter?.optionToken}`, { alternativeOptionTokens: [`${long?.optionToken}`] });
  expect(holdIn(answer).startsAt).toBe(long?.startsAt);
});

async function bookAt(of: Clinic, time: string, changes: JsonObject = {}): Promise<AppointmentBody> {
  const request = await timedBooking(of, { startsAt: at(of, time), ...changes });
  return appointmentIn(await call(of, "BookAppointmentAt", request));
}

function change(changes: JsonObject, expectedVersion: number): Promise<JsonObject> {
  return mustCall(clinic, "ChangeAppointment", { appointmentId: booked.appointmentId, expectedVersion, ...changes });
}

function move(optionToken: string, expectedVersion: number) {
  return call(clinic, "MoveAppointment", { appointmentId: booked.appointmentId, optionToken, expectedVersion });
}

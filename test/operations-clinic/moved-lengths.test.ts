import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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

async function bookAt(of: Clinic, time: string): Promise<AppointmentBody> {
  const request = await timedBooking(of, { startsAt: at(of, time) });
  return appointmentIn(await call(of, "BookAppointmentAt", request));
}

function change(changes: JsonObject, expectedVersion: number): Promise<JsonObject> {
  return mustCall(clinic, "ChangeAppointment", { appointmentId: booked.appointmentId, expectedVersion, ...changes });
}

function move(optionToken: string, expectedVersion: number) {
  return call(clinic, "MoveAppointment", { appointmentId: booked.appointmentId, optionToken, expectedVersion });
}

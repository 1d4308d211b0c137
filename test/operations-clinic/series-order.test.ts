import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { awaitStep, bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { runExtensions } from "../schedule/run-extensions.js";
import { auditOf } from "../support/audit.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";
import { type BookedBody, bookedIn, seriesOf } from "./series-requests.js";
import { timedBooking } from "./timed-bookings.js";

let service: TestService;
let clinic: Clinic;
let patientId: string;
let cancellationReasonId: string;
let series: BookedBody;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  service.stopAt(service.now());
  const as = { tenantId: randomUUID() };
  clinic = await openClinic(service, { as });
  patientId = await fixtures.createPatient(service, {}, as);
  cancellationReasonId = await fixtures.cancellationReason.create(service, as);
  series = bookedIn(await call(clinic, "BookSeries", await seriesOf(clinic, { patientId, count: 3 })));
});

afterAll(() => closeConsistent(service));

test("an appointment of a series that begins at this instant is left as it is, but was not a millisecond earlier", async () => {
  const startMs = Date.parse(`${series.appointments[0]?.startsAt}`);
  const move = { fromAppointmentId: idOf(0), expectedVersion: 1, startsAt: `${day(clinic, 2)}T10:00:00-05:00` };
  service.stopAt(startMs);
  expect(idsIn(await cancel({ validateOnly: true }))).toEqual([idOf(1), idOf(2)]);
  expectRefusal(await call(clinic, "MoveSeries", { seriesId: series.seriesId, ...move }), 409, [
    "fromAppointmentId STATE_NOT_ALLOWED",
  ]);
  service.stopAt(startMs - 1);
  expect(idsIn(await cancel({ validateOnly: true }))).toEqual([idOf(0), idOf(1), idOf(2)]);
});

test("a series is in the order of its starts, even after its first appointment became the last", async () => {
  const dates = { dateFrom: day(clinic, 9), dateTo: day(clinic, 9) };
  const [option] = await optionsFor(clinic, { appointmentId: idOf(0), ...dates });
  const reschedule = { appointmentId: idOf(0), optionToken: `${option?.optionToken}`, expectedVersion: 1 };
  await mustCall(clinic, "RescheduleAppointment", reschedule);
  expect(idsIn(await cancel({ validateOnly: true }))).toEqual([idOf(1), idOf(2), idOf(0)]);
  expect(idsIn(await cancel({ fromAppointmentId: idOf(2), validateOnly: true }))).toEqual([idOf(2), idOf(0)]);
});

test("each appointment that a series moves or cancels has an audit row and a change in its history", async () => {
  const times = { expectedVersion: 1, startsAt: `${day(clinic, 3)}T10:00:00-05:00` };
  const moved = await call(clinic, "MoveSeries", { seriesId: series.seriesId, fromAppointmentId: idOf(1), ...times });
  expect(await auditOf(service, moved)).toMatchObject([updateOf(1, 2), updateOf(2, 2)]);
  const cancelled = await cancel({ comment: "Viaje." });
  expect(await auditOf(service, cancelled)).toMatchObject([updateOf(0, 2), updateOf(1, 3), updateOf(2, 3)]);
  const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: idOf(2) });
  expect(changes).toMatchObject([
    { toStatus: "PENDING", version: 1 },
    { fromStatus: "PENDING", toStatus: "PENDING", version: 2 },
    { fromStatus: "PENDING", toStatus: "CANCELLED", version: 3, cancellationReasonId, comment: "Viaje." },
  ]);
  for (const each of bookedIn(moved).appointments) expect(each).toMatchObject({ overbooked: false, version: 2 });
});

test("a series for a patient who missed too many appointments is refused once", async () => {
  await mustCall(clinic, "UpdateTenantSettings", { supervisedAfterNoShows: 1, expectedVersion: 1 });
  const missed = await bookFirst(clinic, patientId);
  awaitStep(clinic, "MarkAppointmentNoShow", missed);
  const noShowReasonId = await fixtures.noShowReason.create(service, clinic.as);
  const step = { appointmentId: missed.appointmentId, noShowReasonId, expectedVersion: 1 };
  await mustCall(clinic, "MarkAppointmentNoShow", step);
  const desk = { ...clinic, as: { ...clinic.as, scopes: ["scheduling:write"] } };
  const again = await seriesOf(clinic, { patientId, startsAt: `${day(clinic, 4)}T11:00:00-05:00` });
  expectRefusal(await call(desk, "BookSeries", again), 409, ["occurrences[0] SUPERVISOR_REQUIRED"]);
  expect((await call(clinic, "BookSeries", again)).status).toBe(200);
});

test("visits back to back from a time at which no slot begins are refused", async () => {
  const { patientId: _, appointmentTypeId, ...shared } = await timedBooking(clinic);
  const patientIds = [patientId, await fixtures.createPatient(service, {}, clinic.as)];
  const visits = patientIds.map((each) => ({ patientId: each, appointmentTypeId }) as JsonObject);
  const request = { ...shared, visits, startsAt: `${day(clinic, 2)}T08:10:00-05:00` };
  expectRefusal(await call(clinic, "BookTogether", request), 409, ["visits[0] NO_SLOT", "visits[1] NO_SLOT"]);
});

function idOf(index: number): string {
  return `${series.appointments[index]?.appointmentId}`;
}

function idsIn(answer: Parameters<typeof bookedIn>[0]): string[] {
  return bookedIn(answer).appointments.map(({ appointmentId }) => appointmentId);
}

function cancel(changes: JsonObject = {}) {
  return call(clinic, "CancelSeries", { seriesId: series.seriesId, cancellationReasonId, ...changes });
}

function updateOf(index: number, version: number) {
  return { action: "UPDATE", resource_type: "Appointment", resource_id: idOf(index), resource_version: version };
}

test.each([
  ["leaves its year too", 375, [true, true]],
  ["stays in its year", 198, [false, true]],
])(
  "an appointment that a series moves to the year of one that %s is a first visit there, or not",
  async (_, days, first) => {
    service.stopAt(Date.parse(`${day(clinic, 20).slice(0, 4)}-12-15T17:00:00Z`));
    const as = { tenantId: randomUUID() };
    const own = await openClinic(service, { as, rule: { validTo: day(clinic, 400) } });
    await mustCall(own, "UpdateTenantSettings", { horizonDays: 400, expectedVersion: 1 });
    await runExtensions(service, as.tenantId);
    const startsAt = `${day(own, 16)}T08:00:00-05:00`;
    const booked = bookedIn(await call(own, "BookSeries", await seriesOf(own, { startsAt, intervalDays: 182 })));
    const [one, other] = booked.appointments.map(({ appointmentId }) => appointmentId);
    const on = { dateFrom: day(own, days), dateTo: day(own, days) };
    const option = (await optionsFor(own, { appointmentId: `${other}`, ...on })).at(-1);
    const move = { appointmentId: `${other}`, optionToken: `${option?.optionToken}`, expectedVersion: 1 };
    await mustCall(own, "MoveAppointment", move);
    const from = { seriesId: booked.seriesId, fromAppointmentId: `${one}`, expectedVersion: 1 };
    const answer = await call(own, "MoveSeries", { ...from, startsAt: `${day(own, 26)}T08:00:00-05:00` });
    expect(bookedIn(answer).appointments.map(({ firstVisit }) => firstVisit)).toEqual(first);
  },
);

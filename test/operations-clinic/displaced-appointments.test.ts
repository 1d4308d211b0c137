import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DisplacedAppointmentService } from "../../src/gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { appointmentIn, type Clinic, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  bookSeveral,
  countOpen,
  expectSoundness,
  fallIll,
  listed,
  locationOf,
  openDisplacedClinic,
  setLocation,
  setPractitioner,
  setProgram,
} from "./displaced-fixtures.js";
import { expectTokenIsBound } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

const { listDisplacedAppointments } = DisplacedAppointmentService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openDisplacedClinic(service);
});

afterAll(() => service.close());

describe("ListDisplacedAppointments", () => {
  test("returns those of the whole tenant by start, and filters by cause, block, program, practitioner and date", async () => {
    const { programId, ruleId } = clinic;
    const [sick, well] = clinic.practitionerIds;
    const [a, b] = [await bookSeveral(clinic, 1), await bookSeveral(clinic, 1, well)].flat();
    expect(await listed(clinic)).toEqual([]);
    const scheduleBlockId = await fallIll(clinic);
    expect(await listed(clinic)).toEqual([a]);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, startsAtLocal: "09:00", expectedVersion: 1 });
    expect(new Set(await listed(clinic))).toEqual(new Set([a, b]));
    expect(await listed(clinic, { displacedBy: "BLOCK" })).toEqual([a]);
    expect(await listed(clinic, { scheduleBlockId })).toEqual([a]);
    expect(await listed(clinic, { displacedBy: "RULES" })).toEqual([b]);
    expect(await listed(clinic, { practitionerId: `${sick}` })).toEqual([a]);
    expect(await listed(clinic, { programId: randomUUID() })).toEqual([]);
    expect(await listed(clinic, { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) })).toHaveLength(2);
    expect(await listed(clinic, { dateFrom: day(clinic, 3) })).toEqual([]);
    const { as } = clinic;
    await expectTokenIsBound(service, listDisplacedAppointments, { request: {}, other: { programId } }, { as });
    expect((await callRpc(service, listDisplacedAppointments, {})).body["appointments"]).toEqual([]);
  });

  test.each<[string, string, (clinic: Clinic, active: boolean) => Promise<unknown>]>([
    ["a practitioner who becomes inactive", "PRACTITIONER_INACTIVE", setPractitioner],
    ["a location that becomes inactive", "LOCATION_INACTIVE", setLocation],
    ["a program that becomes inactive", "PROGRAM_INACTIVE", setProgram],
  ])("has those of %s, until it is active again; free slots are removed and restored", async (_, cause, set) => {
    const [id] = await bookSeveral(clinic, 1);
    const open = await countOpen(clinic);
    await set(clinic, false);
    expect(await listed(clinic, { displacedBy: cause })).toEqual([id]);
    expect(await countOpen(clinic)).toBeLessThan(open / 2 + 1);
    await expectSoundness(clinic);
    await set(clinic, true);
    expect([await listed(clinic), await countOpen(clinic)]).toEqual([[], open]);
    await expectSoundness(clinic);
  });

  test("has an overbooked one of an inactive program that never had a schedule", async () => {
    clinic = await openClinic(service, { as: { tenantId: randomUUID() }, materialized: false });
    const overbooking = await timedBooking(clinic, { startsAt: at(clinic, "03:00"), reason: "Urgente." });
    const { appointmentId } = appointmentIn(await call(clinic, "OverbookAppointment", overbooking));
    await setProgram(clinic, false);
    expect(await listed(clinic, { displacedBy: "PROGRAM_INACTIVE" })).toEqual([appointmentId]);
    await setProgram(clinic, true);
    expect(await listed(clinic)).toEqual([]);
    await expectSoundness(clinic);
  });

  test("has an appointment after its confirmation, and no longer after its cancellation, as their answers say", async () => {
    const [appointmentId] = await bookSeveral(clinic, 1);
    await fallIll(clinic);
    const of = (expectedVersion: number) => ({ appointmentId: `${appointmentId}`, expectedVersion });
    const confirmed = await mustCall(clinic, "ConfirmAppointment", of(1));
    expect(confirmed).toMatchObject({ appointment: { displaced: true, displacedBy: "BLOCK" } });
    expect(await listed(clinic)).toEqual([appointmentId]);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    const cancelled = await mustCall(clinic, "CancelAppointment", { ...of(2), cancellationReasonId });
    expect(cancelled).toMatchObject({ appointment: { status: "CANCELLED", displaced: false } });
    expect(await listed(clinic)).toEqual([]);
  });

  test("has those of a holiday, and of the rules if these have no slots then anyway", async () => {
    clinic = await openDisplacedClinic(service, { holidayPolicy: "SKIP" });
    const { programId, ruleId } = clinic;
    const date = day(clinic, 2);
    const [id] = await bookSeveral(clinic, 1);
    await mustCall(clinic, "CreateHoliday", { date, name: "Festivo", active: true });
    expect(await listed(clinic, { displacedBy: "HOLIDAY" })).toEqual([id]);
    const weekdays = [1, 2, 3, 4, 5, 6, 7].filter((each) => each % 7 !== new Date(date).getUTCDay());
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, weekdays, expectedVersion: 1 });
    expect(await listed(clinic, { displacedBy: "RULES" })).toEqual([id]);
  });

  test("has an appointment until the instant at which it begins", async () => {
    const [id] = await bookSeveral(clinic, 1);
    await fallIll(clinic);
    const startMs = Date.parse(at(clinic, "08:00"));
    service.stopAt(startMs - 1);
    expect(await listed(clinic)).toEqual([id]);
    service.stopAt(startMs);
    expect(await listed(clinic)).toEqual([]);
    service.advance(0);
  });

  test("has those of a program that moves, at their former location, until it moves back", async () => {
    const { programId } = clinic;
    const [id] = await bookSeveral(clinic, 1);
    const before = await locationOf(clinic);
    const open = await countOpen(clinic);
    const locationId = await fixtures.location.create(service, clinic.as);
    await mustCall(clinic, "UpdateProgram", { programId, locationId, expectedVersion: 1 });
    expect(await listed(clinic, { displacedBy: "PROGRAM_MOVED" })).toEqual([id]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: `${id}` });
    expect(appointment).toMatchObject({ locationId: before, displacedBy: "PROGRAM_MOVED" });
    await mustCall(clinic, "UpdateProgram", { programId, locationId: before, expectedVersion: 2 });
    expect([await listed(clinic), await countOpen(clinic)]).toEqual([[], open]);
    await expectSoundness(clinic);
  });
});

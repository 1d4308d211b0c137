import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RetainedAppointmentService } from "../../src/gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import * as makers from "../contract/makers.js";
import { type Clinic, day, mustCall } from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  bookSeveral,
  countOpen,
  expectSoundness,
  fallIll,
  listed,
  locationOf,
  openRetainedClinic,
  setLocation,
  setPractitioner,
  setProgram,
} from "./retained-fixtures.js";
import { describeAccess, expectTokenIsBound } from "./rpc-under-test.js";

const { listRetainedAppointments } = RetainedAppointmentService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openRetainedClinic(service);
});

afterAll(() => service.close());

describe("ListRetainedAppointments", () => {
  describeAccess(
    { method: listRetainedAppointments, scope: "scheduling:read", prepare: async () => ({}) },
    () => service,
  );

  test("gives those of the whole tenant in the order in which they begin, by cause, block, program, practitioner and date", async () => {
    const { programId, ruleId } = clinic;
    const [sick, well] = clinic.practitionerIds;
    const [a, b] = [await bookSeveral(clinic, 1), await bookSeveral(clinic, 1, well)].flat();
    expect(await listed(clinic)).toEqual([]);
    const scheduleBlockId = await fallIll(clinic);
    expect(await listed(clinic)).toEqual([a]);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, startsAtLocal: "09:00", expectedVersion: 1 });
    expect(new Set(await listed(clinic))).toEqual(new Set([a, b]));
    expect(await listed(clinic, { retainedBy: "BLOCK" })).toEqual([a]);
    expect(await listed(clinic, { scheduleBlockId })).toEqual([a]);
    expect(await listed(clinic, { retainedBy: "RULES" })).toEqual([b]);
    expect(await listed(clinic, { practitionerId: `${sick}` })).toEqual([a]);
    expect(await listed(clinic, { programId: randomUUID() })).toEqual([]);
    expect(await listed(clinic, { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) })).toHaveLength(2);
    expect(await listed(clinic, { dateFrom: day(clinic, 3) })).toEqual([]);
    const { as } = clinic;
    await expectTokenIsBound(service, listRetainedAppointments, { request: {}, other: { programId } }, { as });
    expect((await callRpc(service, listRetainedAppointments, {})).body["appointments"]).toEqual([]);
  });

  test.each<[string, string, (clinic: Clinic, active: boolean) => Promise<unknown>]>([
    ["a practitioner who becomes inactive", "PRACTITIONER_INACTIVE", setPractitioner],
    ["a location that becomes inactive", "LOCATION_INACTIVE", setLocation],
    ["a program that becomes inactive", "PROGRAM_INACTIVE", setProgram],
  ])("has those of %s, until it is active again; free slots go and come back", async (_, cause, set) => {
    const [id] = await bookSeveral(clinic, 1);
    const open = await countOpen(clinic);
    await set(clinic, false);
    expect(await listed(clinic, { retainedBy: cause })).toEqual([id]);
    expect(await countOpen(clinic)).toBeLessThan(open / 2 + 1);
    await expectSoundness(clinic);
    await set(clinic, true);
    expect([await listed(clinic), await countOpen(clinic)]).toEqual([[], open]);
    await expectSoundness(clinic);
  });

  test("has those of a program that moves, at the place that was promised, until it is back", async () => {
    const { programId } = clinic;
    const [id] = await bookSeveral(clinic, 1);
    const before = await locationOf(clinic);
    const open = await countOpen(clinic);
    const locationId = await makers.location.create(service, clinic.as);
    await mustCall(clinic, "UpdateProgram", { programId, locationId, expectedVersion: 1 });
    expect(await listed(clinic, { retainedBy: "PROGRAM_MOVED" })).toEqual([id]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: `${id}` });
    expect(appointment).toMatchObject({ locationId: before, retainedBy: "PROGRAM_MOVED" });
    await mustCall(clinic, "UpdateProgram", { programId, locationId: before, expectedVersion: 2 });
    expect([await listed(clinic), await countOpen(clinic)]).toEqual([[], open]);
    await expectSoundness(clinic);
  });
});

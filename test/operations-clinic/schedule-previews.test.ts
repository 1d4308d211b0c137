import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import {
  appointmentIn,
  bookFirst,
  type Clinic,
  call,
  day,
  materialize,
  mustCall,
  openClinic,
} from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { expectRefusal, idsOf } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

const { previewPractitionerChange } = ProgramService.method;

let service: TestService;
let shared: Clinic;

beforeAll(async () => {
  service = await shareTestService();
  shared = await openClinic(service);
});

afterAll(() => service.close());

describe("PreviewRuleChange", () => {
  test.each<[string, JsonObject]>([
    ["that ends the rule", { active: false }],
    ["of the window", { startsAtLocal: "07:00", endsAtLocal: "11:00" }],
    ["of the duration", { slotDurationMinutes: 20 }],
    ["of the weekdays", { weekdays: [1, 3, 5] }],
    ["of the validity", { validFrom: "2020-01-01", validTo: "2020-12-31" }],
    ["of the holiday policy", { holidayPolicy: "SKIP" }],
    ["of the capacity alone", { dailyCapacity: 1 }],
    ["without any attribute", {}],
    ["to the values it has", { slotDurationMinutes: 30 }],
  ])("of a change %s returns the effect of the same update", async (_, change) => {
    const clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "CreateHoliday", { date: day(clinic, 9), name: "Fiesta", active: true });
    const booked = await bookSeveral(clinic, 3);
    const before = await slotsOf(clinic);
    const preview = await previewOf(clinic, "PreviewRuleChange", { ruleId, ...change });
    expect(await slotsOf(clinic)).toEqual(before);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, ...change, expectedVersion: 1 });
    await expectEffect(clinic, before, preview);
    expect(booked).toEqual(expect.arrayContaining(idsOf(preview.displacedAppointments)));
  });

  test("counts appointments that are already displaced, and free slots that are restored", async () => {
    const clinic = await openClinic(service);
    const { programId, ruleId } = clinic;
    const booked = await bookSeveral(clinic, 2);
    const whole = await slotsOf(clinic);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 });
    const stays = await previewOf(clinic, "PreviewRuleChange", { ruleId, dailyCapacity: 7 });
    expect(stays).toMatchObject({ addedSlotCount: 0, withdrawnSlotCount: 0, displacedAppointmentCount: 2 });
    expect(idsOf(stays.displacedAppointments)).toEqual(booked);
    const returns = await previewOf(clinic, "PreviewRuleChange", { ruleId, active: true });
    expect(returns).toMatchObject({
      addedSlotCount: whole.length - 2,
      withdrawnSlotCount: 0,
      displacedAppointmentCount: 0,
      displacedAppointments: [],
    });
  });

  test("validates the resulting rule as the update does", async () => {
    const { programId, ruleId } = shared;
    const request = { programId, ruleId };
    const hours = { startsAtLocal: "14:00", endsAtLocal: "18:00" };
    await fixtures.createRule(service, programId, hours);
    for (const change of [
      { endsAtLocal: "08:00" },
      { slotDurationMinutes: 300 },
      { endsAtLocal: "15:00" },
      { weekdays: [8] },
      { updateMask: "weekdays" },
      { updateMask: "programId", active: false },
    ]) {
      const previewed = await call(shared, "PreviewRuleChange", { ...request, ...change });
      const updated = await call(shared, "UpdateProgramRule", { ...request, ...change, expectedVersion: 1 });
      expect([previewed.status, previewed.body["errors"]]).toEqual([422, updated.body["errors"]]);
    }
    const stranger = await openClinic(service);
    expectRefusal(await call(shared, "PreviewRuleChange", { ...request, ruleId: stranger.ruleId }), 404);
  });

  test("returns no effect for a schedule that was never materialized", async () => {
    const clinic = await openClinic(service, { materialized: false });
    const { programId, ruleId } = clinic;
    expect(await previewOf(clinic, "PreviewRuleChange", { ruleId, slotDurationMinutes: 60 })).toEqual({
      programId,
      addedSlotCount: 0,
      withdrawnSlotCount: 0,
      displacedAppointmentCount: 0,
      displacedAppointments: [],
    });
  });
});

describe("PreviewPractitionerChange", () => {
  test("counts an overbooked appointment of a program whose schedule was never made", async () => {
    const clinic = await openClinic(service, { materialized: false });
    const { programId, practitionerIds } = clinic;
    const overbooking = await timedBooking(clinic, { startsAt: at(clinic, "03:00"), reason: "Urgente." });
    const { appointmentId } = appointmentIn(await call(clinic, "OverbookAppointment", overbooking));
    expect(
      await previewOf(clinic, "PreviewPractitionerChange", { practitionerIds: [...practitionerIds] }),
    ).toMatchObject({ addedSlotCount: 0, displacedAppointmentCount: 0 });
    const preview = await previewOf(clinic, "PreviewPractitionerChange", { practitionerIds: [] });
    expect(preview).toMatchObject({ addedSlotCount: 0, withdrawnSlotCount: 0, displacedAppointmentCount: 1 });
    expect(idsOf(preview.displacedAppointments)).toEqual([appointmentId]);
    expect(preview).not.toHaveProperty("previewedThrough");
    await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
    expect(appointmentIn(await call(clinic, "GetAppointment", { appointmentId }))).toMatchObject({ displaced: true });
  });

  test("returns the effect of the same replacement", async () => {
    const [ana, luz, eva] = await Promise.all([1, 2, 3].map(() => fixtures.practitioner.create(service, {})));
    const clinic = await openClinic(service, { practitionerIds: [`${ana}`, `${luz}`] });
    await bookSeveral(clinic, 3);
    const { programId } = clinic;
    for (const [i, practitionerIds] of [[`${luz}`, `${eva}`], [], [`${ana}`, `${luz}`, `${eva}`]].entries()) {
      const before = await slotsOf(clinic);
      const preview = await previewOf(clinic, "PreviewPractitionerChange", { practitionerIds });
      expect(await slotsOf(clinic)).toEqual(before);
      const replacement = { programId, practitionerIds, expectedVersion: i + 2 };
      await mustCall(clinic, "ReplaceProgramPractitioners", replacement);
      await expectEffect(clinic, before, preview);
    }
  });

  test("lists unknown practitioners", async () => {
    const practitionerIds = [...shared.practitionerIds, randomUUID()];
    const refused = await call(shared, "PreviewPractitionerChange", { programId: shared.programId, practitionerIds });
    expectRefusal(refused, 404, ["practitionerIds[1] NOT_FOUND"]);
  });
});

interface Preview {
  readonly previewedThrough?: string;
  readonly addedSlotCount: number;
  readonly withdrawnSlotCount: number;
  readonly displacedAppointmentCount: number;
  readonly displacedAppointments: readonly JsonObject[];
}

async function previewOf(clinic: Clinic, rpc: string, change: JsonObject): Promise<Preview> {
  const { schedulePreview } = await mustCall(clinic, rpc, { programId: clinic.programId, ...change });
  return schedulePreview as unknown as Preview;
}

/** Requires that a change had the effect on slots that its preview stated. */
async function expectEffect(clinic: Clinic, before: readonly Slot[], preview: Preview): Promise<void> {
  const after = await slotsOf(clinic);
  const free = (slots: readonly Slot[]) => new Set(slots.filter((slot) => !slot.appointment).map(({ id }) => id));
  const [old, current] = [free(before), free(after)];
  const displaced = after.filter((slot) => slot.retained).map((slot) => slot.appointment);
  const { materializedThrough } = await materialize(clinic);
  expect(preview).toMatchObject({
    previewedThrough: materializedThrough,
    addedSlotCount: [...current].filter((id) => !old.has(id)).length,
    withdrawnSlotCount: [...old].filter((id) => !current.has(id)).length,
    displacedAppointmentCount: displaced.length,
  });
  expect(idsOf(preview.displacedAppointments)).toEqual(displaced);
}

interface Slot {
  readonly id: string;
  readonly appointment: string | null;
  readonly retained: boolean;
}

/** Returns the slots of the clinic's program, ordered by start. Except for today's, all are in the future. */
async function slotsOf({ programId }: Clinic): Promise<readonly Slot[]> {
  const rows = await service.query(
    `SELECT id, appointment_id AS appointment, retained FROM slots WHERE program_id = '${programId}'
     ORDER BY starts_at, appointment_id, id`,
  );
  return rows as unknown as Slot[];
}

/** Books the first slot of several days for a patient. Returns the appointment ids in order. */
async function bookSeveral(clinic: Clinic, count: number): Promise<string[]> {
  const patientId = await fixtures.patient.create(service, clinic.as);
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const date = day(clinic, 2 + i);
    ids.push((await bookFirst(clinic, patientId, { dateFrom: date, dateTo: date }, i)).appointmentId);
  }
  return ids;
}

test("a program of another organization is not found", async () => {
  const as = { organizationId: randomUUID() };
  const { programId } = await openClinic(service, { as });
  expect((await callRpc(service, previewPractitionerChange, { programId }, { as })).status).toBe(200);
  expectRefusal(await callRpc(service, previewPractitionerChange, { programId }), 404);
});

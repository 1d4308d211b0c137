import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  bookFirst,
  type Clinic,
  call,
  day,
  everyMorning,
  materialize,
  mustCall,
  openClinic,
  optionsFor,
} from "./clinic.js";
import { brokenInvariants } from "./invariants.js";
import { scheduleDifferences } from "./schedule-differences.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(async () => {
  const broken = await brokenInvariants(service);
  const differences = await scheduleDifferences(service);
  await service.close();
  expect({ broken, differences }).toEqual({ broken: [], differences: [] });
});

test("makes a slot for each practitioner and each time of the rules, 90 days ahead", async () => {
  const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, {})));
  const clinic = await openClinic(service, { practitionerIds, rule: everyMorning });
  expect(await statusOf(clinic)).toMatchObject({ materializedThrough: day(clinic, 90) });
  expect(await slotsOn(clinic, 90)).toHaveLength(16);
  expect(await slotsOn(clinic, 91)).toEqual([]);
});

test("changes nothing if the rules did not change", async () => {
  const clinic = await openClinic(service);
  const [status, slots] = [await statusOf(clinic), await allSlots(clinic)];
  const { generation } = await materialize(clinic);
  expect(generation).toBe(status["generation"]);
  expect(await allSlots(clinic)).toEqual(slots);
});

test("withdraws free slots that no rule asks for, retains booked ones, and removes those when they are cancelled", async () => {
  const clinic = await openClinic(service);
  const { generation } = await statusOf(clinic);
  const appointment = await bookFirst(clinic, await fixtures.createPatient(service), {}, 7);
  await changeRule(clinic, 1, { endsAtLocal: "10:00:00" });
  expect(await statusOf(clinic)).toMatchObject({
    generation: Number(generation) + 1,
    bookedSlotCount: 0,
    displacedSlotCount: 1,
  });
  expect(await slotsOn(clinic, 2)).toHaveLength(5);
  const details = await mustCall(clinic, "GetAppointment", { appointmentId: appointment.appointmentId });
  expect(details["appointment"]).toMatchObject({ status: "PENDING", displaced: true, startsAt: appointment.startsAt });
  const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
  const request = { appointmentId: appointment.appointmentId, expectedVersion: 1, cancellationReasonId };
  await mustCall(clinic, "CancelAppointment", request);
  expect(await slotsOn(clinic, 2)).toHaveLength(4);
});

test("leaves the slots of other dates as they are when a rule changes on one date", async () => {
  const clinic = await openClinic(service, { rule: everyMorning });
  const [before, { materializedThrough }] = [await allSlots(clinic), await statusOf(clinic)];
  await changeRule(clinic, 1, { holidayDates: [day(clinic, 40)], holidayPolicy: "SKIP" });
  const onThatDate = await slotsOn(clinic, 40);
  await changeRule(clinic, 2, { holidayPolicy: "INCLUDE" });
  const after = await allSlots(clinic);
  expect(onThatDate).toEqual([]);
  expect(after).toHaveLength(before.length);
  expect(after.filter(({ generation }) => generation !== before[0]?.["generation"])).toHaveLength(8);
  expect(await statusOf(clinic)).toMatchObject({ materializedThrough });
});

test("adds at once the slots of a rule that applies only on the last date", async () => {
  const clinic = await openClinic(service);
  const oneDate = { validFrom: day(clinic, 90), validTo: day(clinic, 90) };
  await fixtures.createRule(service, clinic.programId, { ...everyMorning, ...oneDate, dailyCapacity: 8 });
  expect(await slotsOn(clinic, 90)).toHaveLength(8);
  expect(await statusOf(clinic)).toMatchObject({ pending: false });
});

test("makes a retained slot ordinary when a rule asks for it again", async () => {
  const clinic = await openClinic(service);
  await bookFirst(clinic, await fixtures.createPatient(service), {}, 7);
  await changeRule(clinic, 1, { endsAtLocal: "10:00:00" });
  await changeRule(clinic, 2, { endsAtLocal: "12:00:00" });
  expect(await statusOf(clinic)).toMatchObject({ bookedSlotCount: 1, displacedSlotCount: 0 });
  expect(await slotsOn(clinic, 2)).toHaveLength(8);
});

test("leaves the slots after the last date of the schedule to jobs", async () => {
  const clinic = await openClinic(service);
  service.advance(86_400_000);
  const { materializedThrough, materializedAt } = await statusOf(clinic);
  expect(materializedThrough).toBe(day(clinic, 89));
  const oneDate = { validFrom: day(clinic, 90), validTo: day(clinic, 90) };
  await fixtures.createRule(service, clinic.programId, { ...everyMorning, ...oneDate });
  expect(await slotsOn(clinic, 90)).toEqual([]);
  expect(await statusOf(clinic)).toMatchObject({ materializedThrough, materializedAt, pending: true });
});

test("withdraws the slots of a program that becomes inactive, whose schedule then ended yesterday", async () => {
  const clinic = await openClinic(service);
  const { programId } = clinic;
  await mustCall(clinic, "UpdateProgram", { programId, active: false, expectedVersion: 1 });
  expect(await allSlots(clinic)).toEqual([]);
  expect(await statusOf(clinic)).toMatchObject({ materializedThrough: day(clinic, -1), pending: false });
});

test("withdraws the slots of a practitioner who leaves", async () => {
  const clinic = await openClinic(service);
  const { programId } = clinic;
  await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
  expect(await allSlots(clinic)).toEqual([]);
});

test("follows a holiday that is added, deactivated and activated again", async () => {
  const clinic = await openClinic(service, { rule: { ...everyMorning, holidayPolicy: "SKIP" } });
  const { generation } = await statusOf(clinic);
  const { holiday } = await mustCall(clinic, "CreateHoliday", { date: day(clinic, 30), name: "Fiesta", active: true });
  const holidayId = (holiday as { id: string }).id;
  expect(await slotsOn(clinic, 30)).toEqual([]);
  expect(await slotsOn(clinic, 31)).toHaveLength(8);
  const unchanged = await mustCall(clinic, "UpdateHoliday", { holidayId, expectedVersion: 1 });
  expect(unchanged["holiday"]).toMatchObject({ version: 1 });
  await mustCall(clinic, "UpdateHoliday", { holidayId, active: false, expectedVersion: 1 });
  expect(await slotsOn(clinic, 30)).toHaveLength(8);
  await mustCall(clinic, "UpdateHoliday", { holidayId, active: true, expectedVersion: 2 });
  expect(await slotsOn(clinic, 30)).toEqual([]);
  expect(await statusOf(clinic)).toMatchObject({ generation: Number(generation) + 3 });
});

test("follows a holiday on the last date of the schedule", async () => {
  const clinic = await openClinic(service, { rule: { ...everyMorning, holidayPolicy: "SKIP" } });
  const { holiday } = await mustCall(clinic, "CreateHoliday", { date: day(clinic, 90), name: "Fiesta", active: true });
  expect(await slotsOn(clinic, 90)).toEqual([]);
  const { id: holidayId } = holiday as { id: string };
  await mustCall(clinic, "UpdateHoliday", { holidayId, active: false, expectedVersion: 1 });
  expect(await slotsOn(clinic, 90)).toHaveLength(8);
});

test("withdraws the slots on seeded holidays", async () => {
  const rule = { ...everyMorning, holidayPolicy: "SKIP" };
  const clinic = await openClinic(service, { as: { tenantId: randomUUID() }, rule });
  const dates = await datesWithSlots(clinic);
  const holidays: string[] = [];
  for (const year of new Set([day(clinic, 0), day(clinic, 90)].map((date) => Number(date.slice(0, 4))))) {
    const { createdHolidays } = await mustCall(clinic, "SeedHolidays", { year });
    holidays.push(...(createdHolidays as { date: string }[]).map(({ date }) => date));
  }
  expect(dates.filter((date) => holidays.includes(date))).not.toEqual([]);
  expect(await datesWithSlots(clinic)).toEqual(dates.filter((date) => !holidays.includes(date)));
});

test("leaves a schedule that was never materialized empty", async () => {
  const clinic = await openClinic(service, { materialized: false });
  await changeRule(clinic, 1, { slotDurationMinutes: 20 });
  expect(await allSlots(clinic)).toEqual([]);
  expect(await statusOf(clinic)).not.toHaveProperty("materializedThrough");
});

test("leaves a schedule that was never materialized empty when blocks and holidays change", async () => {
  const rule = { ...everyMorning, holidayPolicy: "SKIP" };
  const clinic = await openClinic(service, { materialized: false, rule });
  const times = { startsAt: `${day(clinic, 2)}T09:00:00-05:00`, endsAt: `${day(clinic, 2)}T10:00:00-05:00` };
  const target = { kind: "ILLNESS", programId: clinic.programId };
  const created = await mustCall(clinic, "CreateScheduleBlock", { ...target, ...times });
  const { scheduleBlockId } = created["scheduleBlock"] as { scheduleBlockId: string };
  const cancelled = await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
  const { holiday } = await mustCall(clinic, "CreateHoliday", { date: day(clinic, 40), name: "Fiesta", active: true });
  const holidayId = (holiday as { id: string }).id;
  await mustCall(clinic, "UpdateHoliday", { holidayId, active: false, expectedVersion: 1 });
  expect([created, cancelled].map(({ effect }) => effect)).toEqual([NO_EFFECT, NO_EFFECT]);
  expect(await allSlots(clinic)).toEqual([]);
});

test("does not delay bookings in other programs", async () => {
  const [clinic, other] = [await openClinic(service), await openClinic(service)];
  const patientId = await fixtures.createPatient(service);
  const hold = service.proxy.holdBefore("COMMIT");
  const change = materialize(clinic);
  await hold.reached;
  expect((await bookFirst(other, patientId)).status).toBe("PENDING");
  hold.release();
  await change;
  expect(await optionsFor(clinic, { patientId: await fixtures.createPatient(service) })).toHaveLength(8);
});

const NO_EFFECT = {
  withdrawnSlotCount: 0,
  restoredSlotCount: 0,
  displacedAppointmentCount: 0,
  displacedAppointments: [],
};

async function changeRule(clinic: Clinic, expectedVersion: number, changes: object): Promise<void> {
  const { programId, ruleId } = clinic;
  const answer = await call(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion, ...changes });
  expect(answer.status).toBe(200);
}

async function statusOf(clinic: Clinic): Promise<Record<string, unknown>> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  return materialization as Record<string, unknown>;
}

function slotsOn(clinic: Clinic, days: number): Promise<Record<string, unknown>[]> {
  return service.query(
    `SELECT id FROM slots WHERE program_id = '${clinic.programId}' AND local_date = '${day(clinic, days)}'`,
  );
}

/** Returns the future slots of the program. */
function allSlots({ programId }: Clinic): Promise<Record<string, unknown>[]> {
  const now = new Date(service.now()).toISOString();
  return service.query(`SELECT * FROM slots WHERE program_id = '${programId}' AND starts_at > '${now}' ORDER BY id`);
}

/** Returns the dates with slots, from tomorrow on. */
async function datesWithSlots(clinic: Clinic): Promise<string[]> {
  const rows = await service.query(
    `SELECT DISTINCT local_date::text AS date FROM slots
     WHERE program_id = '${clinic.programId}' AND local_date > '${day(clinic, 0)}' ORDER BY 1`,
  );
  return rows.map(({ date }) => String(date));
}

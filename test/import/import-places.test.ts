import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { listed } from "../operations-clinic/displaced-fixtures.js";
import { holdFirst } from "../operations-clinic/hold-requests.js";
import { appointmentOf, mustBlock, wholeDay } from "../operations-clinic/schedule-block-fixtures.js";
import { bookFirst, day, everyMorning, mustCall } from "../schedule/clinic.js";
import { runExtensions } from "../schedule/run-extensions.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  type ImportingClinic,
  importAppointment,
  importRows,
  invariantsOf,
  openImportingClinic,
  patientRow,
  summariesOf,
} from "./rows-under-test.js";

const MINUTE_MS = 60_000;

let service: TestService;
let clinic: ImportingClinic;
let rows = 0;
let visitDay: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  service.advance(0);
  clinic = await openImportingClinic(service);
  visitDay = day(clinic, 2);
  await importRows(clinic, [patientRow("P1"), patientRow("P2")]);
});

afterAll(() => service.close());

describe("an appointment after the slots of a program whose own horizon is shorter than the tenant's", () => {
  const FAR = 150;

  beforeEach(async () => {
    const { programId } = clinic;
    await mustCall(clinic, "UpdateProgramWindow", { programId, horizonDays: 30, expectedVersion: 1 });
    await mustCall(clinic, "UpdateTenantSettings", { horizonDays: 200, expectedVersion: 1 });
    visitDay = day(clinic, FAR);
  });

  test("is displaced by a block, until it is cancelled", async () => {
    const appointmentId = await importedAhead();
    const block = { practitionerId: `${clinic.practitionerIds[0]}`, ...wholeDay(clinic, FAR) };
    const { scheduleBlock, effect } = await mustBlock(clinic, block);
    expect(effect).toMatchObject({ displacedAppointmentCount: 1, displacedAppointments: [{ appointmentId }] });
    const { scheduleBlockId } = scheduleBlock;
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    expect(await appointmentOf(clinic, appointmentId)).toMatchObject({ displaced: false });
  });

  test("is displaced while its practitioner has left or its program is inactive", async () => {
    const { programId, practitionerIds } = clinic;
    const appointmentId = await importedAhead();
    const cause = async () => (await appointmentOf(clinic, appointmentId))["displacedBy"];
    const { schedulePreview } = await mustCall(clinic, "PreviewPractitionerChange", { programId, practitionerIds: [] });
    expect(schedulePreview).toMatchObject({ displacedAppointmentCount: 1, previewedThrough: day(clinic, 90) });
    await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
    expect(await cause()).toBe("PRACTITIONERS");
    await mustCall(clinic, "UpdateProgram", { programId, active: false, expectedVersion: 2 });
    expect(await cause()).toBe("PROGRAM_INACTIVE");
    await mustCall(clinic, "UpdateProgram", { programId, active: true, expectedVersion: 3 });
    const back = { programId, practitionerIds: [...practitionerIds], expectedVersion: 3 };
    await mustCall(clinic, "ReplaceProgramPractitioners", back);
    expect(await cause()).toBeUndefined();
  });

  test("is displaced by a job if rules have slots on dates that jobs compare", async () => {
    const { programId } = clinic;
    await mustCall(clinic, "UpdateProgramWindow", { programId, horizonDays: 100, expectedVersion: 2 });
    await runExtensions(service, clinic.as.tenantId);
    const appointmentId = await importedAhead();
    await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
    await runExtensions(service, clinic.as.tenantId);
    expect(await appointmentOf(clinic, appointmentId)).toMatchObject({ displacedBy: "PRACTITIONERS" });
  });

  async function importedAhead(): Promise<string> {
    return (await importAppointment(clinic, ahead("09:00", 30)))["appointmentId"] as string;
  }
});

describe("an appointment that is ahead", () => {
  test("takes all the adjacent slots that cover its time", async () => {
    expect(await importAppointment(clinic, ahead("08:00", 90))).toMatchObject({ overbooked: false });
    expect(await takenSlots()).toEqual(["08:00", "08:30", "09:00"]);
    expect(await bookedUnits()).toBe(1);
    expect(await importAppointment(clinic, ahead("09:30", 30))).toMatchObject({ overbooked: false });
    expect(await bookedUnits()).toBe(2);
  });

  test.each([
    ["begins within a slot", "08:15", 30],
    ["ends within a slot", "08:00", 45],
    ["ends after the last slot", "11:30", 60],
    ["begins before the first slot", "07:30", 60],
  ])("takes no slot of the schedule if it %s", async (_, time, minutes) => {
    expect(await importAppointment(clinic, ahead(time, minutes))).toMatchObject({ overbooked: true });
    expect(await takenSlots()).toEqual([]);
    expect(await bookedUnits()).toBe(0);
  });

  test("takes no slots of two rules", async () => {
    const { programId } = clinic;
    const afternoon = { startsAtLocal: "12:00:00", endsAtLocal: "14:00:00", validTo: day(clinic, 14) };
    await fixtures.createRule(service, programId, { ...everyMorning, ...afternoon }, clinic.as);
    await mustCall(clinic, "MaterializeSchedule", { programId });
    expect(await importAppointment(clinic, ahead("11:30", 60))).toMatchObject({ overbooked: true });
    expect(await importAppointment(clinic, ahead("13:00", 60))).toMatchObject({ overbooked: false });
  });

  test("takes no slot once its day has no capacity, in the tenant or in the batch", async () => {
    clinic = await openImportingClinic(service, { rule: { dailyCapacity: 2 } });
    await importRows(clinic, [patientRow("P1"), patientRow("P2")]);
    await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    const times = ["09:00", "09:30", "10:00"].map((time) => ahead(time, 30));
    const other = appointmentRow(clinic, "other day", { status: "PENDING" }, { date: day(clinic, 3), time: "08:00" });
    expect(summariesOf(await importRows(clinic, [...times, other]))).toEqual(Array(4).fill("CREATED"));
    expect(await takenSlots()).toEqual(["08:00", "09:00"]);
    expect(await bookedUnits()).toBe(2);
    expect(await invariantsOf(clinic)).toMatchObject({ findings: [] });
  });

  test("can precede or follow another of its patient and practitioner in the batch at once, but not overlap it", async () => {
    const [one, previous, next, overlapping, apart] = [
      ahead("08:30", 30),
      ahead("08:00", 30),
      ahead("09:00", 30),
      ahead("08:59", 30),
      ahead("08:59", 30, { patient: { sourceId: "P2" } }),
    ];
    expect(summariesOf(await importRows(clinic, [one, previous, next, overlapping, apart]))).toEqual([
      "CREATED",
      "CREATED",
      "CREATED",
      "REJECTED appointment.patient.sourceId PATIENT_OVERLAP appointment.practitioner.resourceId SLOT_OCCUPIED",
      "REJECTED appointment.practitioner.resourceId SLOT_OCCUPIED",
    ]);
    expect(await takenSlots()).toEqual(["08:00", "08:30", "09:00"]);
  });

  test("must not overlap any earlier one of its patient and practitioner in the batch", async () => {
    const three = [ahead("08:00", 30), ahead("09:00", 30), ahead("09:15", 30)];
    expect(summariesOf(await importRows(clinic, three))).toEqual([
      "CREATED",
      "CREATED",
      "REJECTED appointment.patient.sourceId PATIENT_OVERLAP appointment.practitioner.resourceId SLOT_OCCUPIED",
    ]);
  });

  test("shares its slot neither with a cancelled one nor with one beside it in the batch", async () => {
    const cancelled = { status: "CANCELLED", cancellationReasonId: clinic.cancellationReasonId, comment: "Llamó." };
    const beside = { patient: { sourceId: "P2" }, overbookingReason: "Control" };
    const three = [ahead("08:00", 30, cancelled), ahead("08:00", 30), ahead("08:00", 30, beside)];
    const ids = (await importRows(clinic, three)).map(({ resourceId }) => resourceId);
    const slots = await service.query(
      `SELECT appointment_id AS id, rule_id IS NOT NULL AS scheduled FROM slots
       WHERE appointment_id IN (${ids.map((id) => `'${id}'`).join()}) ORDER BY scheduled DESC`,
    );
    expect(slots).toEqual([
      { id: ids[1], scheduled: true },
      { id: ids[2], scheduled: false },
    ]);
    expect(await bookedUnits()).toBe(1);
  });

  test("must not overlap a live hold of its patient, and can after the hold has expired", async () => {
    const patientId = await fixtures.createPatient(service, {}, clinic.as);
    const held = await holdFirst(clinic, { patientId });
    const row = ahead("08:15", 30, { patient: { resourceId: patientId }, overbookingReason: "Control" });
    expect(summariesOf(await importRows(clinic, [row]))).toEqual([
      "REJECTED appointment.patient.resourceId PATIENT_OVERLAP",
    ]);
    service.stopAt(Date.parse(held.expiresAt));
    expect(summariesOf(await importRows(clinic, [row]))).toEqual(["CREATED"]);
  });

  test("under a block of its practitioner is to be decided on, and one that has begun is not", async () => {
    const block = { practitionerId: `${clinic.practitionerIds[0]}`, kind: "ILLNESS" };
    const [startsAt, endsAt] = [local("08:00"), local("12:00")];
    await mustCall(clinic, "CreateScheduleBlock", { ...block, startsAt, endsAt });
    const under = await importAppointment(clinic, ahead("08:30", 30));
    for (const time of ["07:30", "12:00"])
      expect(await importAppointment(clinic, ahead(time, 30))).toMatchObject({ overbooked: true, displaced: false });
    expect(await listed(clinic)).toEqual([under["appointmentId"]]);
    service.stopAt(Date.parse(local("09:00")));
    const begun = await importRows(clinic, [ahead("09:00", 30)]);
    const slots = await service.query(
      `SELECT retained, retention_accepted AS accepted FROM slots WHERE appointment_id = '${begun[0]?.resourceId}'`,
    );
    expect(slots).toEqual([{ retained: true, accepted: true }]);
  });
});

test("an appointment that is over takes no slot, although it was in the schedule", async () => {
  service.stopAt(Date.parse(local("09:00")) + 30 * MINUTE_MS);
  const attended = ahead("08:00", 30, { status: "ATTENDED" });
  expect(await importAppointment(clinic, attended)).toMatchObject({ status: "ATTENDED", overbooked: true });
  expect(await takenSlots()).toEqual([]);
});

/** A row of an appointment on the visit day. */
function ahead(time: string, minutes: number, changes: JsonObject = {}): JsonObject {
  rows += 1;
  const endsAt = new Date(Date.parse(local(time)) + minutes * MINUTE_MS).toISOString();
  const attributes = { status: "PENDING", endsAt, ...changes };
  return appointmentRow(clinic, `A ${rows}`, attributes, { date: visitDay, time });
}

function local(time: string): string {
  return `${visitDay}T${time}:00-05:00`;
}

/** Returns when the slots of the rules begin that have an appointment, on the visit day. */
async function takenSlots(): Promise<unknown[]> {
  const found = await service.query(
    `SELECT to_char(starts_at AT TIME ZONE 'America/Bogota', 'HH24:MI') AS time FROM slots
     WHERE program_id = '${clinic.programId}' AND rule_id IS NOT NULL AND appointment_id IS NOT NULL
       AND local_date = '${visitDay}' ORDER BY 1`,
  );
  return found.map(({ time }) => time);
}

async function bookedUnits(): Promise<unknown> {
  const [row] = await service.query(
    `SELECT coalesce(sum(booked), 0)::int AS booked FROM day_counters
     WHERE rule_id = '${clinic.ruleId}' AND local_date = '${visitDay}'`,
  );
  return row?.["booked"];
}

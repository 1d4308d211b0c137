import type { JsonObject } from "@bufbuild/protobuf";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Clinic, day, openClinic } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  countsOf,
  type ImportingClinic,
  importRows,
  openImportingClinic,
  patientRow,
  summariesOf,
} from "./rows-under-test.js";

let service: TestService;
let clinic: ImportingClinic;
/** Another program of the tenant, with one appointment a day. */
let neighbour: Clinic;

beforeAll(async () => {
  service = await shareTestService();
  clinic = await openImportingClinic(service);
  neighbour = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 1 } });
  await importRows(clinic, [patientRow("P1"), patientRow("P2")]);
});

afterAll(() => service.close());

test("each rule has its own capacity and its own counter for each day", async () => {
  const { programId, practitionerIds, serviceId } = neighbour;
  const elsewhere = {
    programId,
    practitioner: { resourceId: `${practitionerIds[0]}` },
    service: { resourceId: serviceId },
    patient: { sourceId: "P2" },
  };
  const rows = [
    ahead("N1", 2, "08:00"),
    ahead("N2", 2, "08:30"),
    ahead("N3", 2, "09:00", elsewhere),
    ahead("N4", 2, "09:30", elsewhere),
  ];
  expect(summariesOf(await importRows(clinic, rows))).toEqual(Array(4).fill("CREATED"));
  expect(summariesOf(await importRows(clinic, [ahead("N5", 3, "08:00")]))).toEqual(["CREATED"]);
  expect(await bookedOn(clinic, 2)).toBe(2);
  expect(await bookedOn(clinic, 3)).toBe(1);
  expect(await bookedOn(neighbour, 2)).toBe(1);
});

test("an appointment outside the schedule gets one slot, in its own program", async () => {
  const [outcome] = await importRows(clinic, [appointmentRow(clinic, "N6")]);
  const slots = await service.query(
    `SELECT program_id AS "programId" FROM slots WHERE appointment_id = '${outcome?.resourceId}'`,
  );
  expect(slots).toEqual([{ programId: clinic.programId }]);
});

test("systems of one tenant can have the same ids", async () => {
  const own = await openImportingClinic(service);
  const other = { ...own, sourceSystem: "another system" };
  const [first] = await importRows(own, [patientRow("P1")]);
  const [second] = await importRows(other, [patientRow("P1")]);
  expect([first?.state, second?.state]).toEqual(["CREATED", "CREATED"]);
  expect(second?.resourceId).not.toBe(first?.resourceId);
  expect(summariesOf(await importRows(other, [appointmentRow(own, "A1")]))).toEqual(["CREATED"]);
  expect(await countsOf(own)).toEqual({ PATIENT: 1 });
  expect(await countsOf(other)).toEqual({ PATIENT: 1, APPOINTMENT: 1 });
});

test("a batch waits for no other patient, and for no slot beside its time", async () => {
  const own = await openImportingClinic(service);
  const [patient] = await importRows(own, [patientRow("P1"), patientRow("P2")]);
  const startsAt = `${day(own, 2)}T08:00:00-05:00`;
  const holder = new Client(service.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${own.as.tenantId}'`);
  await holder.query(`SELECT FROM patients WHERE id <> '${patient?.resourceId}' FOR UPDATE`);
  await holder.query(`SELECT FROM slots WHERE starts_at <> '${startsAt}' FOR UPDATE`);
  const row = appointmentRow(own, "A1", { status: "PENDING" }, { date: day(own, 2), time: "08:00" });
  expect(summariesOf(await importRows(own, [row]))).toEqual(["CREATED"]);
});

/** A row of an appointment so many days after today. */
function ahead(sourceId: string, days: number, time: string, changes: JsonObject = {}): JsonObject {
  return appointmentRow(clinic, sourceId, { status: "PENDING", ...changes }, { date: day(clinic, days), time });
}

async function bookedOn({ ruleId }: Clinic, days: number): Promise<unknown> {
  const [row] = await service.query(
    `SELECT booked FROM day_counters WHERE rule_id = '${ruleId}' AND local_date = '${day(clinic, days)}'`,
  );
  return row?.["booked"];
}

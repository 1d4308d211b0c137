import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { eventually } from "../support/eventually.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  countsOf,
  type ImportingClinic,
  importRows,
  invariantsOf,
  openImportingClinic,
  patientRow,
  summariesOf,
} from "./rows-under-test.js";

let service: TestService;
let clinic: ImportingClinic;

beforeAll(async () => {
  service = await shareTestService();
  clinic = await openImportingClinic(service);
});

afterAll(() => service.close());

test("an erased patient leaves no hash of a row, and is not imported again", async () => {
  const rows = [
    patientRow("P1"),
    appointmentRow(clinic, "A1"),
    patientRow("P2"),
    appointmentRow(clinic, "A3", { patient: { sourceId: "P2" } }),
  ];
  const [patient] = await importRows(clinic, rows);
  const request = { patientId: patient?.resourceId ?? "", expectedVersion: 1, reason: "Radicado 2026-0042" };
  const { status } = await callRpc(service, PatientDirectoryService.method.erasePatient, request, { as: clinic.as });
  expect(status).toBe(200);
  const hashes = await service.query(
    `SELECT kind, content_hash IS NULL AS empty FROM imported_resources
     WHERE tenant_id = '${clinic.as.tenantId}' ORDER BY kind, empty`,
  );
  expect(hashes).toEqual([
    { kind: "APPOINTMENT", empty: false },
    { kind: "APPOINTMENT", empty: true },
    { kind: "PATIENT", empty: false },
    { kind: "PATIENT", empty: true },
  ]);
  const again = await importRows(clinic, [...rows, appointmentRow(clinic, "A2")]);
  expect(summariesOf(again)).toEqual([
    "REJECTED sourceId STATE_NOT_ALLOWED",
    "REJECTED sourceId STATE_NOT_ALLOWED",
    "UNCHANGED",
    "UNCHANGED",
    "REJECTED appointment.patient.sourceId NOT_FOUND",
  ]);
  expect(await countsOf(clinic)).toEqual({ PATIENT: 2, APPOINTMENT: 2 });
});

test("rows of a patient that was merged twice become appointments of the last survivor", async () => {
  const [survivor = "", middle = "", duplicate = ""] = (
    await importRows(clinic, [patientRow("P8"), patientRow("P9"), patientRow("P10")])
  ).map(({ resourceId }) => resourceId);
  await merge(duplicate, middle, 1);
  await merge(middle, survivor, 2);
  const row = appointmentRow(clinic, "A9", { patient: { sourceId: "P10" } });
  expect(summariesOf(await importRows(clinic, [row]))).toEqual(["CREATED"]);
  const found = await service.query(`SELECT count(*)::int AS count FROM appointments WHERE patient_id = '${survivor}'`);
  expect(found).toEqual([{ count: 1 }]);
  expect(await invariantsOf(clinic)).toMatchObject({ findings: [] });
});

test("rows of a patient who is merged meanwhile become appointments of the survivor", async () => {
  const [survivor = "", duplicate = ""] = (await importRows(clinic, [patientRow("P11"), patientRow("P12")])).map(
    ({ resourceId }) => resourceId,
  );
  const merging = new Client(service.databaseUrl);
  await merging.connect();
  onTestFinished(() => merging.end());
  await merging.query(`BEGIN; SET LOCAL cupo.tenant_id = '${clinic.as.tenantId}'`);
  await merging.query(`UPDATE patients SET status = 'INACTIVE', merged_into = '${survivor}' WHERE id = '${duplicate}'`);
  const importing = importRows(clinic, [appointmentRow(clinic, "A12", { patient: { sourceId: "P12" } })]);
  const isWaiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await eventually(async () => (await service.query(isWaiting)).length > 0);
  await merging.query("COMMIT");
  expect(summariesOf(await importing)).toEqual(["CREATED"]);
  const found = await service.query(`SELECT count(*)::int AS count FROM appointments WHERE patient_id = '${survivor}'`);
  expect(found).toEqual([{ count: 1 }]);
});

async function merge(duplicatePatientId: string, survivorPatientId: string, duplicateExpectedVersion: number) {
  const request = {
    survivorPatientId,
    survivorExpectedVersion: 1,
    duplicatePatientId,
    duplicateExpectedVersion,
    reason: "Registro doble",
  };
  const { status } = await callRpc(service, PatientDirectoryService.method.mergePatients, request, { as: clinic.as });
  expect(status).toBe(200);
}

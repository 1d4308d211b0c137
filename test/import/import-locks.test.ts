import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { day } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { shareTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  type ImportingClinic,
  importRows,
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

test("a batch locks the patients of waitlist entries and appointments together, in the order of their ids", async () => {
  const patients = await importRows(clinic, [patientRow("P1"), patientRow("P2")]);
  const [first = "", second = ""] = patients
    .map(({ resourceId }) => resourceId)
    .toSorted((one = "", other = "") => (one < other ? -1 : 1));
  const other = new Client(service.databaseUrl);
  await other.connect();
  onTestFinished(() => other.end());
  const lock = (id: string) => `SELECT FROM patients WHERE id = '${id}' FOR NO KEY UPDATE NOWAIT`;
  await other.query(`BEGIN; SET LOCAL cupo.tenant_id = '${clinic.as.tenantId}'; ${lock(first)}`);
  const importing = importRows(clinic, [
    waitingRow("W1", second),
    appointmentRow(clinic, "A1", { patient: { resourceId: first } }),
  ]);
  const isWaiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await eventually(async () => (await service.query(isWaiting)).length > 0);
  await other.query(lock(second));
  await other.query("COMMIT");
  expect(summariesOf(await importing)).toEqual(["CREATED", "CREATED"]);
});

function waitingRow(sourceId: string, patientId: string) {
  const waitlistEntry = {
    patient: { resourceId: patientId },
    service: { resourceId: clinic.serviceId },
    dateFrom: day(clinic, 1),
    dateTo: day(clinic, 30),
    preferredPeriods: ["MORNING"],
    requestedOn: "2024-02-01",
  };
  return { sourceId, waitlistEntry };
}

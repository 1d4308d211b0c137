import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { day } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
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

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("ImportResources", () => {
  test("imports every kind, with references between rows of one batch in any order", async () => {
    const clinic = await openImportingClinic(service);
    const rows = everyKind(clinic);
    const outcomes = await importRows(clinic, rows.toReversed());
    expect(summariesOf(outcomes)).toEqual(rows.map(() => "CREATED"));
    expect(await countsOf(clinic)).toEqual({
      LOCATION: 1,
      PRACTITIONER: 1,
      SERVICE: 1,
      PAYER: 1,
      CONTRACT: 1,
      PATIENT: 1,
      APPOINTMENT: 2,
      WAITLIST_ENTRY: 1,
    });
  });

  test("changes nothing when the same rows come again", async () => {
    const clinic = await openImportingClinic(service);
    const rows = everyKind(clinic);
    const created = await importRows(clinic, rows);
    const again = await importRows(clinic, rows);
    expect(again).toEqual(created.map((outcome) => ({ ...outcome, state: "UNCHANGED" })));
  });
});

function everyKind(clinic: ImportingClinic) {
  const ahead = appointmentRow(
    clinic,
    "A2",
    { status: "CONFIRMED", requestedOn: day(clinic, 0) },
    { date: day(clinic, 3), time: "08:30" },
  );
  return [
    { sourceId: "L1", location: { code: "L1", name: "Sede norte", active: true } },
    { sourceId: "D1", practitioner: { code: "D1", fullName: "Luz Mora", active: true } },
    { sourceId: "S1", service: { code: "S1", name: "Medicina general", active: true } },
    { sourceId: "E1", payer: { code: "E1", name: "EPS Uno", taxId: "900123456-1", active: true } },
    {
      sourceId: "C1",
      contract: {
        code: "C1",
        name: "Contrato uno",
        payer: { sourceId: "E1" },
        validFrom: "2024-01-01",
        validTo: "2030-12-31",
        active: true,
      },
    },
    patientRow("P1"),
    appointmentRow(clinic, "A1", { practitioner: { sourceId: "D1" }, service: { sourceId: "S1" } }),
    ahead,
    {
      sourceId: "W1",
      waitlistEntry: {
        patient: { sourceId: "P1" },
        service: { sourceId: "S1" },
        location: { sourceId: "L1" },
        dateFrom: day(clinic, 0),
        dateTo: day(clinic, 30),
        preferredPeriods: ["MORNING"],
        requestedOn: "2024-02-01",
      },
    },
  ];
}

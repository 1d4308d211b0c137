import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { day } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
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

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("ImportResources", () => {
  test("does not find resources of another tenant, organization or company", async () => {
    const clinic = await openImportingClinic(service);
    const stranger = { tenantId: randomUUID() };
    const inOrganization = { ...clinic.as, organizationId: randomUUID() };
    const request = (as: TokenFor) => ({ ...clinic, as });
    await importRows(request(stranger), [patientRow("P1")]);
    const [payer] = await importRows(request(inOrganization), [
      { sourceId: "E1", payer: { code: "E1", name: "EPS", taxId: "900", active: true } },
    ]);
    const contract = { code: "C", name: "C", validFrom: "2024-01-01", validTo: "2024-12-31", active: true };
    const outcomes = await importRows(clinic, [
      appointmentRow(clinic, "A1"),
      { sourceId: "C1", contract: { ...contract, payer: { resourceId: payer?.resourceId ?? "" } } },
    ]);
    expect(summariesOf(outcomes)).toEqual([
      "REJECTED appointment.patient.sourceId NOT_FOUND",
      "REJECTED contract.payer.resourceId NOT_FOUND",
    ]);
  });

  test("takes every row of batches that arrive at the same time, once", async () => {
    const clinic = await openImportingClinic(service);
    const rows = Array.from({ length: 20 }, (_, i) => patientRow(`P${i}`));
    const both = await Promise.all([importRows(clinic, rows), importRows(clinic, rows)]);
    expect([...new Set(both.flatMap(summariesOf))].toSorted()).toEqual(["CREATED", "UNCHANGED"]);
    expect(both.map((outcomes) => new Set(summariesOf(outcomes)).size)).toEqual([1, 1]);
    expect(await countsOf(clinic)).toEqual({ PATIENT: 20 });
  });

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
    expect(again).toEqual(created.map(({ resourceId, errors }) => ({ resourceId, errors, state: "UNCHANGED" })));
    expect(await invariantsOf(clinic)).toMatchObject({ findings: [] });
  });

  test("rejects only the wrong rows of a batch, with every broken rule", async () => {
    const clinic = await openImportingClinic(service);
    const outcomes = await importRows(clinic, [
      patientRow("P1"),
      patientRow("P2", { documentNumber: "…", phone: "12" }),
      patientRow("P3", { fullName: "clave 1234 de Ana" }),
      patientRow("P4", { consentGrantedAt: "2999-01-01T00:00:00Z" }),
      { sourceId: "X1" },
      { patient: {} },
      { sourceId: "L1", location: { code: " L1", name: "", active: true } },
    ]);
    expect(summariesOf(outcomes)).toEqual([
      "CREATED",
      "REJECTED patient.documentNumber INVALID_FORMAT patient.phone INVALID_FORMAT",
      "REJECTED patient.fullName CONTAINS_CREDENTIAL",
      "REJECTED patient.consentGrantedAt OUT_OF_RANGE",
      "REJECTED resource REQUIRED",
      expect.stringMatching(/^REJECTED sourceId REQUIRED patient\.documentType REQUIRED/),
      "REJECTED location.name TOO_SHORT location.code INVALID_FORMAT",
    ]);
    expect(await countsOf(clinic)).toEqual({ PATIENT: 1 });
  });

  test("rejects a row that changed after its import, and an id that comes twice in a batch with another row", async () => {
    const clinic = await openImportingClinic(service);
    const row = patientRow("P1");
    const [created] = await importRows(clinic, [row]);
    const changed = patientRow("P1", { fullName: "Otra Persona" });
    const outcomes = await importRows(clinic, [changed, row, patientRow("P2"), patientRow("P2")]);
    expect(summariesOf(outcomes)).toEqual([
      "REJECTED sourceId SOURCE_CHANGED",
      "UNCHANGED",
      "CREATED",
      "REJECTED sourceId SOURCE_CHANGED",
    ]);
    expect(outcomes[0]?.resourceId).toBe(created?.resourceId);
  });

  test("rejects an id that comes twice in a batch if the first row with it is rejected", async () => {
    const clinic = await openImportingClinic(service);
    const rejected = patientRow("P1", { consentGrantedAt: "2999-01-01T00:00:00Z" });
    expect(summariesOf(await importRows(clinic, [rejected, patientRow("P1")]))).toEqual([
      "REJECTED patient.consentGrantedAt OUT_OF_RANGE",
      "REJECTED sourceId DUPLICATE",
    ]);
    expect(await countsOf(clinic)).toEqual({});
  });

  test("rejects a document that another active patient has, in the tenant or in the batch, and accepts it for an inactive one", async () => {
    const clinic = await openImportingClinic(service);
    const document = { documentNumber: "55.555.555" };
    await importRows(clinic, [patientRow("P0", document)]);
    const twice = { documentNumber: "66666666" };
    const outcomes = await importRows(clinic, [
      patientRow("P1", document),
      patientRow("P2", { ...document, status: "INACTIVE" }),
      patientRow("P3", twice),
      patientRow("P4", twice),
    ]);
    const taken = "REJECTED patient.documentNumber DUPLICATE";
    expect(summariesOf(outcomes)).toEqual([taken, "CREATED", "CREATED", taken]);
  });

  test("rejects a taken code and references to nothing", async () => {
    const clinic = await openImportingClinic(service);
    const location = { code: "L1", name: "Sede", active: true };
    const contract = { code: "C", name: "C", validFrom: "2024-01-01", validTo: "2024-12-31", active: true };
    const outcomes = await importRows(clinic, [
      { sourceId: "L1", location },
      { sourceId: "L2", location },
      { sourceId: "C1", contract: { ...contract, payer: { sourceId: "none" } } },
      { sourceId: "C2", contract: { ...contract, payer: { resourceId: clinic.serviceId } } },
      { sourceId: "C3", contract: { ...contract, payer: {} } },
      { sourceId: "S1", service: { code: "S", name: "S", active: true, opportunityDefinitionId: clinic.serviceId } },
      appointmentRow(clinic, "A1"),
    ]);
    expect(summariesOf(outcomes)).toEqual([
      "CREATED",
      "REJECTED location.code DUPLICATE",
      "REJECTED contract.payer.sourceId NOT_FOUND",
      "REJECTED contract.payer.resourceId NOT_FOUND",
      "REJECTED contract.payer.resourceId INVALID_VALUE",
      "REJECTED service.opportunityDefinitionId NOT_FOUND",
      "REJECTED appointment.patient.sourceId NOT_FOUND",
    ]);
  });

  test("validate_only finds the same errors and imports nothing", async () => {
    const clinic = await openImportingClinic(service);
    const rows = [patientRow("P1"), appointmentRow(clinic, "A1"), patientRow("P2", { phone: "1" })];
    const tried = await importRows(clinic, rows, { validateOnly: true });
    expect(summariesOf(tried)).toEqual(["CREATED", "CREATED", "REJECTED patient.phone INVALID_FORMAT"]);
    expect(tried.map(({ resourceId }) => resourceId)).toEqual([undefined, undefined, undefined]);
    expect(await countsOf(clinic)).toEqual({});
    expect(summariesOf(await importRows(clinic, rows))).toEqual(summariesOf(tried));
  });

  test("validate_only returns no ids of rows that the batch repeats", async () => {
    const clinic = await openImportingClinic(service);
    const row = patientRow("P1");
    const rows = [row, row, patientRow("P1")];
    const tried = await importRows(clinic, rows, { validateOnly: true });
    expect(summariesOf(tried)).toEqual(["CREATED", "UNCHANGED", "REJECTED sourceId SOURCE_CHANGED"]);
    expect(tried.map(({ resourceId }) => resourceId)).toEqual([undefined, undefined, undefined]);
    const [created] = await importRows(clinic, [row]);
    const again = await importRows(clinic, rows, { validateOnly: true });
    expect(new Set(again.map(({ resourceId }) => resourceId))).toEqual(new Set([created?.resourceId]));
  });

  test("names the operation in the audit trail, once for each created resource, and each is an event", async () => {
    const clinic = await openImportingClinic(service);
    const rows = Array.from({ length: 30 }, (_, i) => patientRow(`P${i}`));
    await importRows(clinic, rows);
    const { tenantId = "" } = clinic.as;
    const audited = await service.query(
      `SELECT count(*)::int AS count, count(DISTINCT resource_id)::int AS resources, min(operation) AS operation
       FROM audit_events WHERE tenant_id = '${tenantId}' AND resource_type = 'Patient'`,
    );
    const operation = "cupo.clinic.v1.ImportService/ImportResources";
    expect(audited).toEqual([{ count: 30, resources: 30, operation }]);
    const events = await service.query(
      `SELECT count(*)::int AS count FROM event_outbox o JOIN audit_events e ON e.tenant_id = o.tenant_id AND e.id = o.audit_event_id
       WHERE o.tenant_id = '${tenantId}' AND e.operation = '${operation}'`,
    );
    expect(events).toEqual([{ count: 30 }]);
  });

  test("keeps neither source ids nor rows in the clear", async () => {
    const clinic = await openImportingClinic(service);
    await importRows(clinic, [patientRow("CC-79461234")]);
    const stored = JSON.stringify(await service.query("SELECT i::text AS row FROM imported_resources i"));
    expect(stored).not.toContain("79461234");
  });
});

describe("GetImportReport", () => {
  test("counts nothing for an unknown system or another tenant", async () => {
    const clinic = await openImportingClinic(service);
    await importRows(clinic, [patientRow("P1")]);
    expect(await countsOf(clinic, "another system")).toEqual({});
    expect(await countsOf(await openImportingClinic(service))).toEqual({});
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

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DemoClinic } from "../../src/demo/demo-clinic.js";
import { openDemoTransport } from "../../src/demo/demo-transport.js";
import { fillClinic } from "../../src/demo/fill-clinic.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID, largeClinic } from "../../src/demo/large-clinic.js";
import { smallClinic } from "../../src/demo/small-clinic.js";
import { EligibilityService } from "../../src/gen/cupo/access/v1/eligibility_service_pb.js";
import { CatalogAdminService } from "../../src/gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { localDateAt } from "../../src/scheduling/local-clock.js";
import { rpcClient } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

const TABLES = [
  "locations",
  "healthcare_services",
  "practitioners",
  "opportunity_definitions",
  "appointment_types",
  "consultation_types",
  "cancellation_reasons",
  "no_show_reasons",
  "request_sources",
  "payers",
  "contracts",
  "contract_services",
  "patients",
  "patient_consents",
  "holidays",
  "programs",
  "program_rules",
  "program_services",
  "program_practitioners",
];
const FOUR_DAYS_MS = 4 * 24 * 60 * 60 * 1_000;

const lines: string[] = [];
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await fill((line) => lines.push(line));
});

afterAll(() => service.close());

describe("the demo tenants", () => {
  test("have the resources of their data, each once", async () => {
    for (const { tenantId, ...clinic } of [largeClinic, smallClinic]) {
      const rows = await countRows(tenantId);
      expect(rows).toMatchObject({
        locations: clinic.locations.length,
        healthcare_services: clinic.services.length,
        appointment_types: clinic.appointmentTypes.length,
        payers: clinic.payers.length,
        contract_services: clinic.contracts.flatMap(({ coveredServices }) => coveredServices).length,
        patients: clinic.patients.length,
        patient_consents: clinic.patients.length,
        programs: clinic.programs.length,
        program_rules: clinic.programs.flatMap(({ rules }) => rules).length,
        program_services: clinic.programs.flatMap(({ services }) => services).length,
        program_practitioners: clinic.programs.flatMap(({ practitioners }) => practitioners).length,
      });
      expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([]);
    }
    expect(lines).toContain(`Demo tenant ${DEMO_TENANT_ID}, ${largeClinic.name}`);
    expect(lines).toContain(`  patients: ${largeClinic.patients.length}`);
    expect(lines.at(-1)).toBe("  programs with their rules, services and practitioners: 1");
  });

  test("are visible to a token without an organization, which can read the coverage of a contract", async () => {
    const as: TokenFor = { tenantId: DEMO_TENANT_ID };
    const [catalogs, reference, patients, eligibility] = await Promise.all([
      rpcClient(service, CatalogAdminService, as),
      rpcClient(service, ReferenceDataService, as),
      rpcClient(service, PatientDirectoryService, as),
      rpcClient(service, EligibilityService, as),
    ]);
    const [contract] = (await catalogs.listContracts({ code: "AURORA-BASICO" })).contracts;
    const { patient } = await patients.findPatientByDocument({ documentType: "CC", documentNumber: "90000001" });
    const isEligible = async (code: string) => {
      const [found] = (await reference.listHealthcareServices({ code })).healthcareServices;
      const [contractId, payerId, serviceId] = [
        idOf(contract?.contractId),
        idOf(contract?.payerId),
        idOf(found?.serviceId),
      ];
      const request = {
        patientId: idOf(patient?.patientId),
        payerId,
        contractId,
        serviceId,
        serviceDate: "2027-03-01",
      };
      return (await eligibility.checkEligibility(request)).eligibilityDecision?.eligible;
    };
    expect([await isEligible("PEDIA"), await isEligible("CARDIO")]).toEqual([true, false]);
  });

  test("have the holidays of this and the next year", async () => {
    const schedule = await rpcClient(service, ProgramService, { tenantId: DEMO_TENANT_ID });
    const thisYear = Number(localDateAt(service.now()).slice(0, 4));
    for (const year of [thisYear, thisYear + 1]) {
      const { holidays } = await schedule.listHolidays({ dateFrom: `${year}-01-01`, dateTo: `${year}-12-31` });
      expect(holidays.map(({ date }) => date)).toContain(`${year}-07-20`);
    }
  });

  test("get nothing more at another start, whatever was changed; the start sends two calls per tenant", async () => {
    const before = await countRows();
    await service.query("UPDATE patients SET status = 'INACTIVE'; UPDATE locations SET code = 'RENAMED ' || code");
    await service.query("DELETE FROM idempotency_keys");
    service.advance(FOUR_DAYS_MS);
    const calls = service.log.length;
    const told: string[] = [];
    await fill((line) => told.push(line));
    expect(await countRows()).toEqual(before);
    expect(told.filter((line) => line === "  already filled")).toHaveLength(2);
    expect(service.log.length - calls).toBe(4);
  });
});

describe("the filling of a clinic", () => {
  test.each([
    ["at once, by the same requests", async () => undefined, [200]],
    ["when its idempotency keys are forgotten", () => service.query("DELETE FROM idempotency_keys"), [200, 400, 409]],
  ])("that was interrupted anywhere is completed at the next start, %s", async (_, meanwhile, statuses) => {
    const calls = service.log.length;
    const clinic = { ...smallClinic, tenantId: randomUUID() };
    for (const group of ["locations", "contracts", "patients", "holidays"]) {
      const cut = new AbortController();
      const onProgress = (line: string) => {
        if (line.startsWith(group)) cut.abort(new Error("cut off"));
      };
      await expect(fillOne(clinic, { signal: cut.signal, onProgress })).rejects.toThrow("cut off");
      await meanwhile();
    }
    await fillOne(clinic);
    const completed = await countRows(clinic.tenantId);
    expect(completed).toEqual({ ...(await countRows(smallClinic.tenantId)), holidays: completed["holidays"] });
    await meanwhile();
    await service.query(`UPDATE programs SET practitioners_version = 1 WHERE tenant_id = '${clinic.tenantId}'`);
    await fillOne(clinic);
    expect(await countRows(clinic.tenantId)).toEqual(completed);
    const answered = new Set(service.log.slice(calls).map(({ status }) => status));
    expect(answered).toEqual(new Set(statuses));
  });

  test("by two processes at the same time creates each resource once", async () => {
    const clinic = { ...smallClinic, tenantId: randomUUID() };
    await Promise.all([fillOne(clinic), fillOne(clinic)]);
    const counts = await countRows(clinic.tenantId);
    expect(counts).toEqual({ ...(await countRows(smallClinic.tenantId)), holidays: counts["holidays"] });
  });

  test("stays within the quotas of its client", async () => {
    const limited = await startTestService({ RATE_LIMIT_PER_SECOND: "20" });
    try {
      await fillOne(smallClinic, { of: limited });
      expect(limited.log.filter(({ status }) => status !== 200)).toEqual([]);
      expect(limited.log.length).toBeGreaterThan(20);
    } finally {
      await limited.close();
    }
  });
});

function fill(onProgress: (line: string) => void): Promise<void> {
  const { internalUrl, now } = service;
  const issuer = { sign: (request: TokenFor) => service.token(request) };
  return fillDemo({ internalUrl, issuer, now, signal: new AbortController().signal, onProgress });
}

interface Filling {
  readonly of?: TestService;
  readonly signal?: AbortSignal;
  readonly onProgress?: (line: string) => void;
}

function fillOne(clinic: DemoClinic, { of = service, signal, onProgress = () => undefined }: Filling = {}) {
  const { tenantId } = clinic;
  const transport = openDemoTransport({
    internalUrl: of.internalUrl,
    tenantId,
    token: () => of.token({ tenantId, client: "demo-setup" }),
    signal: signal ?? new AbortController().signal,
  });
  return fillClinic(clinic, transport, [2026], onProgress);
}

function idOf(id: string | undefined): string {
  expect(id).toBeDefined();
  return id ?? "";
}

async function countRows(tenantId?: string): Promise<Record<string, number>> {
  const where = tenantId === undefined ? "" : `WHERE tenant_id = '${tenantId}'`;
  const counts = TABLES.map((table) => `(SELECT count(*)::integer FROM ${table} ${where}) AS ${table}`);
  const [row] = await service.query(`SELECT ${counts.join(", ")}`);
  return row as Record<string, number>;
}

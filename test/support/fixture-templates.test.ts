import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  contract,
  healthcareService,
  provideResource,
  readResource,
} from "../operations-clinic/resources-under-test.js";
import {
  bookFirst,
  type Clinic,
  call,
  day,
  materialize,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { startTestService, type TestService } from "./service.js";

let service: TestService;
let made: Clinic;
let copied: Clinic;

beforeAll(async () => {
  service = await startTestService();
  [made, copied] = [await openClinic(service), await openClinic(service)];
});

afterAll(() => service.close());

describe("a copied clinic", () => {
  test("was not created by calls and shares nothing with its original", async () => {
    expect([await isAudited(made.programId), await isAudited(copied.programId)]).toEqual([true, false]);
    for (const name of ["programId", "ruleId", "serviceId"] as const) expect(copied[name]).not.toBe(made[name]);
    expect(copied.practitionerIds).not.toEqual(made.practitionerIds);
  });

  test("reads like its original, except for ids and codes", async () => {
    expect(await shown(copied)).toEqual(await shown(made));
  });

  test("of a new tenant reads like its original too, unless the tenant has holidays, blocks or settings", async () => {
    const inNewTenant = () => openClinic(service, { as: { tenantId: randomUUID() } });
    const [original, elsewhere] = [await inNewTenant(), await inNewTenant()];
    const { as } = elsewhere;
    expect(await isAudited(elsewhere.programId)).toBe(false);
    expect(await shown(elsewhere)).toEqual(await shown(original));
    await mustCall(elsewhere, "CreateHoliday", { date: day(elsewhere, 1), name: "Fiesta", active: true });
    expect(await isAudited((await openClinic(service, { as })).programId)).toBe(true);
  });

  test("has the complete schedule of its rule", async () => {
    expect(await materialize(copied)).toMatchObject({ pending: false, openSlotCount: expect.any(Number) });
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("is booked independently of its original", async () => {
    const patientId = await fixtures.createPatient(service);
    await bookFirst(copied, patientId);
    const another = await fixtures.createPatient(service);
    expect(await optionsFor(copied, { patientId: another })).toHaveLength(7);
    expect(await optionsFor(made, { patientId: another })).toHaveLength(8);
  });
});

describe.each([contract, healthcareService])("a copied resource, $type,", (resource) => {
  test("has the provided values, and its own id, code and reference", async () => {
    const provided = [];
    for (let n = 0; n < 4; n++) provided.push(await provideResource(service, resource));
    for (const each of provided) expect(await readResource(service, resource, each)).toEqual(each);
    expect(await Promise.all(provided.map(({ id }) => isAudited(id)))).toEqual([true, false, false, false]);
    const reference = `${resource.reference?.attribute}`;
    for (const name of ["id", "code", reference])
      expect(new Set(provided.map((each) => Reflect.get(each, name))).size).toBe(4);
  });

  test("belongs to the organization for which it was provided", async () => {
    const as = { organizationId: crypto.randomUUID() };
    const provided = [];
    for (let n = 0; n < 3; n++) provided.push(await provideResource(service, resource, {}, as));
    const owned = `SELECT 1 FROM ${resource.table} WHERE organization_id = '${as.organizationId}'`;
    expect(await service.query(owned)).toHaveLength(3);
  });
});

test("a clinic without rows in one of its tables is created by the service each time", async () => {
  const never = { validFrom: "2020-01-01", validTo: "2020-12-31" };
  for (let n = 0; n < 3; n++)
    expect(await isAudited((await openClinic(service, { rule: never })).programId)).toBe(true);
});

async function isAudited(id: string): Promise<boolean> {
  return (await service.query(`SELECT 1 FROM audit_events WHERE resource_id = '${id}'`)).length > 0;
}

/** Returns what staff can read of a clinic, with every id replaced by "id". */
async function shown(clinic: Clinic): Promise<unknown> {
  const { programId, ruleId, serviceId, practitionerIds } = clinic;
  const answers = await Promise.all([
    call(clinic, "GetProgram", { programId }),
    call(clinic, "GetProgramRule", { programId, ruleId }),
    call(clinic, "GetProgramServices", { programId }),
    call(clinic, "GetProgramPractitioners", { programId }),
    call(clinic, "GetMaterializationStatus", { programId }),
    call(clinic, "GetHealthcareService", { serviceId }),
    call(clinic, "GetPractitioner", { practitionerId: `${practitionerIds[0]}` }),
  ]);
  return answers.map(({ status, text }) => [
    status,
    text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id"),
  ]);
}

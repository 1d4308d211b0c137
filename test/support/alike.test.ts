import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as makers from "../contract/makers.js";
import {
  contract,
  healthcareService,
  provideResource,
  readResource,
} from "../operations-clinic/resources-under-test.js";
import { bookFirst, type Clinic, call, materialize, openClinic, optionsFor } from "../schedule/clinic.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import { startTestService, type TestService } from "./service.js";

let service: TestService;
let made: Clinic;
let copied: Clinic;

beforeAll(async () => {
  service = await startTestService();
  await openClinic(service);
  [made, copied] = [await openClinic(service), await openClinic(service)];
});

afterAll(() => service.close());

describe("a clinic that is a copy", () => {
  test("was not made by calls, and has nothing of the one that it is a copy of", async () => {
    expect([await isAudited(made.programId), await isAudited(copied.programId)]).toEqual([true, false]);
    for (const name of ["programId", "ruleId", "serviceId"] as const) expect(copied[name]).not.toBe(made[name]);
    expect(copied.practitionerIds).not.toEqual(made.practitionerIds);
  });

  test("is read as the other is, but for its ids and codes", async () => {
    expect(await shown(copied)).toEqual(await shown(made));
  });

  test("has the schedule that its rule gives, to which nothing is to be added", async () => {
    expect(await materialize(copied)).toMatchObject({ pending: false, openSlotCount: expect.any(Number) });
    expect(await scheduleDifferences(service)).toEqual([]);
  });

  test("is booked by itself", async () => {
    const patientId = await makers.createPatient(service);
    await bookFirst(copied, patientId);
    const another = await makers.createPatient(service);
    expect(await optionsFor(copied, { patientId: another })).toHaveLength(7);
    expect(await optionsFor(made, { patientId: another })).toHaveLength(8);
  });
});

describe.each([contract, healthcareService])("a resource that is a copy, $type,", (resource) => {
  test("is read as what was provided, and has a code and a reference of its own", async () => {
    const provided = [];
    for (let n = 0; n < 4; n++) provided.push(await provideResource(service, resource));
    for (const each of provided) expect(await readResource(service, resource, each)).toEqual(each);
    expect(await Promise.all(provided.map(({ id }) => isAudited(id)))).toEqual([true, true, false, false]);
    const reference = `${resource.reference?.attribute}`;
    for (const name of ["id", "code", reference])
      expect(new Set(provided.map((each) => Reflect.get(each, name))).size).toBe(4);
  });

  test("belongs to whoever it was provided for", async () => {
    const as = { organizationId: crypto.randomUUID() };
    const provided = [];
    for (let n = 0; n < 3; n++) provided.push(await provideResource(service, resource, {}, as));
    const owned = `SELECT 1 FROM ${resource.table} WHERE organization_id = '${as.organizationId}'`;
    expect(await service.query(owned)).toHaveLength(3);
  });
});

test("what has no row in one of its tables is made by the service each time", async () => {
  const never = { validFrom: "2020-01-01", validTo: "2020-12-31" };
  for (let n = 0; n < 3; n++)
    expect(await isAudited((await openClinic(service, { rule: never })).programId)).toBe(true);
});

async function isAudited(id: string): Promise<boolean> {
  return (await service.query(`SELECT 1 FROM audit_events WHERE resource_id = '${id}'`)).length > 0;
}

/** What staff see of a clinic, with the same for every id. */
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

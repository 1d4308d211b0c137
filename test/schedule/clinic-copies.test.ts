import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as makers from "../contract/makers.js";
import { startTestService, type TestService } from "../support/service.js";
import { bookFirst, type Clinic, call, materialize, openClinic, optionsFor } from "./clinic.js";
import { scheduleDifferences } from "./schedule-differences.js";

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
    const audited = `SELECT count(*)::int AS times FROM audit_events WHERE resource_type = 'Program'`;
    const of = async ({ programId }: Clinic) =>
      (await service.query(`${audited} AND resource_id = '${programId}'`))[0]?.["times"];
    expect(await Promise.all([made, copied].map(of))).toEqual([1, 0]);
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

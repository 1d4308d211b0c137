import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, mustCall, openClinic } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { holdFirst } from "./hold-requests.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

const OF_TENANT = "WHERE tenant_id = :tenant";

test.each<[what: string, names: readonly string[], defect: string]>([
  ["nothing wrong with the service's own writes", [], "SELECT 1"],
  ["a held unit that is not counted", ["HELD_COUNT_WRONG 1"], `UPDATE day_counters SET held = '{}' ${OF_TENANT}`],
  [
    "a unit that nobody holds",
    ["HELD_COUNT_WRONG 1"],
    `UPDATE day_counters SET held = array_append(held, held[1]) ${OF_TENANT}`,
  ],
  [
    "a hold over an appointment of its practitioner",
    ["HOLD_OVERLAP 1"],
    `UPDATE appointment_holds h SET starts_at = a.starts_at, ends_at = a.ends_at FROM appointments a
     WHERE h.tenant_id = :tenant AND a.tenant_id = :tenant AND h.id = (SELECT min(id::text)::uuid FROM appointment_holds ${OF_TENANT})`,
  ],
  [
    "two holds at the same time",
    ["HOLD_OVERLAP 1"],
    `UPDATE appointment_holds SET starts_at = (SELECT min(starts_at) FROM appointment_holds ${OF_TENANT}) ${OF_TENANT}`,
  ],
  [
    "holds that last into their time",
    ["HOLD_OUTLIVED 2"],
    `UPDATE appointment_holds SET expires_at = (SELECT max(ends_at) FROM appointment_holds ${OF_TENANT}) ${OF_TENANT}`,
  ],
  [
    "offers to entries of other patients",
    ["OFFER_WRONG 2"],
    `UPDATE appointment_holds SET waitlist_entry_id = id ${OF_TENANT}`,
  ],
  [
    "a hold of a merged patient",
    ["MERGED_PATIENT_IN_USE 1"],
    `UPDATE patients p SET status = 'INACTIVE', merged_into = (SELECT patient_id FROM appointments ${OF_TENANT})
     WHERE p.tenant_id = :tenant AND p.id = (SELECT min(patient_id::text)::uuid FROM appointment_holds ${OF_TENANT})`,
  ],
])("VerifyInvariants reports %s", async (_, names, defect) => {
  const clinic = await openHeldClinic();
  await service.query("ALTER TABLE appointment_holds DROP CONSTRAINT IF EXISTS appointment_holds_practitioner_excl");
  await service.query(defect.replaceAll(":tenant", `'${clinic.as.tenantId}'`));
  expect(await findingsOf(clinic)).toEqual(names);
});

/** Opens a tenant with an appointment and two live holds of other patients. */
async function openHeldClinic(): Promise<Clinic> {
  const clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
  for (const skip of [0, 0]) await holdFirst(clinic, {}, skip);
  return clinic;
}

async function findingsOf(clinic: Clinic): Promise<string[]> {
  const { invariantReport } = await mustCall(clinic, "VerifyInvariants", {});
  const { findings } = invariantReport as unknown as { findings: readonly { name: string; count: number }[] };
  return findings.map(({ name, count }) => `${name} ${count}`);
}

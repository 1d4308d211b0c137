import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, day, everyMorning, mustCall, openClinic } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { runExtensions } from "../schedule/run-extensions.js";
import { startTestService, type TestService } from "../support/service.js";

const DAY_MS = 86_400_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service));

describe("a change of a rule that applies at once requests further slots from jobs", () => {
  test("only if the schedule does not reach the horizon", async () => {
    const clinic = await openOwn();
    expect(await jobsAfterChange(clinic, "10:00", 1)).toBe(0);
    service.advance(DAY_MS);
    expect(await jobsAfterChange(clinic, "11:00", 2)).toBe(1);
  });

  test("also if they must be compared after the default horizon", async () => {
    const clinic = await openOwn();
    await mustCall(clinic, "UpdateTenantSettings", { horizonDays: 100, expectedVersion: 1 });
    expect(await runExtensions(service, clinic.as.tenantId)).toEqual(["ADDED", "DONE"]);
    expect(await jobsAfterChange(clinic, "10:00", 1)).toBe(1);
  });

  test("not if the program is inactive", async () => {
    const clinic = await openOwn();
    await mustCall(clinic, "UpdateProgram", { programId: clinic.programId, active: false, expectedVersion: 1 });
    expect(await jobsAfterChange(clinic, "10:00", 1)).toBe(0);
  });
});

test.each([
  ["tenant", "UpdateTenantSettings", () => ({})],
  ["program", "UpdateProgramWindow", ({ programId }: Clinic) => ({ programId })],
])(
  "a longer horizon of the %s requests further slots from jobs, and a shorter one does not",
  async (_, rpc, subject) => {
    const clinic = await openOwn();
    const jobsWith = (horizonDays: number, expectedVersion: number) =>
      jobsAfter(clinic, rpc, { ...subject(clinic), horizonDays, expectedVersion });
    expect([await jobsWith(100, 1), await jobsWith(95, 2)]).toEqual([1, 0]);
  },
);

test("a schedule is extended although no call locked the calendar of its tenant before", async () => {
  const clinic = await openOwn();
  service.advance(DAY_MS);
  await service.query(`DELETE FROM calendars WHERE tenant_id = '${clinic.as.tenantId}'`);
  expect(await runExtensions(service, clinic.as.tenantId)).toEqual(["ADDED", "DONE"]);
});

test("the slots of today are added in parts if they are more than one transaction adds", async () => {
  service.stopAt(Date.parse(`${day({ service }, 1)}T00:00:00-05:00`));
  const wholeDay = { startsAtLocal: "00:00:00", endsAtLocal: "23:59:59", slotDurationMinutes: 1 };
  const today = { validFrom: day({ service }, 0), validTo: day({ service }, 0) };
  const clinic = await openOwn({ staff: 3, materialized: false, rule: { ...wholeDay, ...today } });
  expect(await runExtensions(service, clinic.as.tenantId)).toEqual(["ADDED", "ADDED", "ADDED", "DONE"]);
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  expect(materialization).toMatchObject({ openSlotCount: 3 * 1_439, pending: false });
});

/** Opens a clinic in a new tenant, open every morning up to the horizon. */
async function openOwn({ staff = 1, materialized = true, rule = {} } = {}): Promise<Clinic> {
  const as = { tenantId: randomUUID() };
  const made = Array.from({ length: staff }, () => fixtures.practitioner.create(service, as));
  const practitionerIds = await Promise.all(made);
  return openClinic(service, { as, practitionerIds, materialized, rule: { ...everyMorning, ...rule } });
}

/** Changes when the rule ends. Returns the number of jobs that this requests for the tenant. */
function jobsAfterChange(clinic: Clinic, endsAtLocal: string, expectedVersion: number): Promise<number> {
  const { programId, ruleId } = clinic;
  return jobsAfter(clinic, "UpdateProgramRule", { programId, ruleId, endsAtLocal, expectedVersion });
}

/** Calls an RPC that must succeed. Returns the number of jobs that this requests for the schedules of the tenant. */
async function jobsAfter(clinic: Clinic, rpc: string, request: JsonObject): Promise<number> {
  await service.query("DELETE FROM graphile_worker._private_jobs");
  await mustCall(clinic, rpc, request);
  const jobs = `SELECT 1 FROM graphile_worker.jobs WHERE key = 'extend_schedule:${clinic.as.tenantId}'`;
  return (await service.query(jobs)).length;
}

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";
import { type Clinic, call, day, mustCall, openClinic } from "./clinic.js";
import { buildCommitGate, type CommitGate } from "./commit-gate.js";
import { brokenInvariants } from "./invariants.js";
import { scheduleDifferences } from "./schedule-differences.js";

const STALE = ["expectedVersion STALE_VERSION"];

let database: TestDatabase;
let service: TestService;
let gate: CommitGate;
let clinic: Clinic;
/** Versions of the set of practitioners before and after the second one joined. */
const BEFORE = 2;
const CURRENT = 3;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await buildCommitGate(database);
  const started = await startTestService({ DATABASE_URL: database.url });
  service = { ...started, query: (sql) => execute(database.adminUrl, sql) };
});

afterEach(async () => {
  expect([await brokenInvariants(service), await scheduleDifferences(service)]).toEqual([[], []]);
});

afterAll(async () => {
  await gate.end();
  await service.close();
  await database.drop();
});

test("a replacement with a stale version withdraws no slots during a concurrent rule change, whichever locks the program first", async () => {
  for (let i = 0; i < 4; i += 1) {
    clinic = await openClinicOfTwo();
    const [first, second] = clinic.practitionerIds;
    const change = () => changeRule();
    const replace = () => replaceBy([`${first}`], BEFORE);
    const isChangeFirst = i % 2 === 0;
    const [one, other] = await Promise.all(isChangeFirst ? [change(), replace()] : [replace(), change()]);
    expect((isChangeFirst ? one : other).status).toBe(200);
    expectRefusal(isChangeFirst ? other : one, 409, STALE);
    expect(await slotsPerDay()).toEqual({ [`${first}`]: [4], [`${second}`]: [4] });
  }
});

test("a replacement waits for an uncommitted rule change, and is judged by the version of the set, not of the rule", async () => {
  clinic = await openClinicOfTwo();
  const [first, second] = clinic.practitionerIds;
  const open = await gate.close("UpdateProgramRule");
  const changed = changeRule();
  await gate.waiting(1);
  const stale = replaceBy([`${first}`], BEFORE);
  await gate.waiting(2);
  await open();
  expect((await changed).status).toBe(200);
  expectRefusal(await stale, 409, STALE);
  expect(await slotsPerDay()).toEqual({ [`${first}`]: [4], [`${second}`]: [4] });
  expect((await replaceBy([`${first}`], CURRENT)).status).toBe(200);
  expect(await slotsPerDay()).toEqual({ [`${first}`]: [4] });
});

/** Opens a clinic whose second practitioner joined after the schedule was materialized. */
async function openClinicOfTwo(): Promise<Clinic> {
  const opened = await openClinic(service);
  const joined = await fixtures.practitioner.create(service, {});
  const practitionerIds = [`${opened.practitionerIds[0]}`, joined];
  const { programId } = opened;
  await mustCall(opened, "ReplaceProgramPractitioners", { programId, practitionerIds, expectedVersion: BEFORE });
  return { ...opened, practitionerIds };
}

function replaceBy(practitionerIds: string[], expectedVersion: number) {
  const { programId } = clinic;
  return call(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds, expectedVersion });
}

/** Ends the rule at ten, which withdraws half of the eight slots per day. */
function changeRule() {
  const { programId, ruleId } = clinic;
  return call(clinic, "UpdateProgramRule", { programId, ruleId, endsAtLocal: "10:00:00", expectedVersion: 1 });
}

/** Returns the numbers of slots per future day, by practitioner. */
async function slotsPerDay(): Promise<Readonly<Record<string, number[]>>> {
  const rows = await service.query(
    `SELECT practitioner_id AS id, array_agg(DISTINCT count ORDER BY count) AS counts FROM (
       SELECT practitioner_id, local_date, count(*)::int AS count FROM slots
       WHERE program_id = '${clinic.programId}' AND local_date > '${day(clinic, 0)}' GROUP BY 1, 2) d GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ id, counts }) => [String(id), counts as number[]]));
}

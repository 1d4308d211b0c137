import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import { summarizeWaits } from "../../src/jobs/summarize-waits.js";
import type { Database } from "../../src/postgres/database.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import {
  buildSummaries,
  findTenantsWithoutSummaries,
  moveChanges,
} from "../../src/postgres/tables/opportunity/summaries.js";
import { openClinic } from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 100, idleTimeoutMs: 10_000 };
const LEAST_ID = "00000000-0000-0000-0000-000000000000";

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

test("tenants without summaries have a schedule, and summaries that are not begun or not complete", async () => {
  const [none, begun, complete] = [await openTenant(), await openTenant(), await openTenant()];
  await openTenant({ materialized: false });
  await setBuilt(begun, LEAST_ID);
  await setBuilt(complete, null);
  expect((await findTenantsWithoutSummaries(database)).toSorted()).toEqual([none, begun].toSorted());
});

describe("summaries", () => {
  test("are complete after the last part, and built only once", async () => {
    const tenantId = await openTenant();
    expect([await run(tenantId, buildSummaries), await builtOf(tenantId)]).toEqual([false, [{ built: null }]]);
    expect([await run(tenantId, buildSummaries), await builtOf(tenantId)]).toEqual([false, [{ built: null }]]);
  });

  test("get no changes before they are complete, and all of them then", async () => {
    const tenantId = await openTenant();
    await addChange(tenantId);
    const move = async () => [await run(tenantId, moveChanges), await countChanges(tenantId)];
    expect(await move()).toEqual([false, 1]);
    await setBuilt(tenantId, LEAST_ID);
    expect(await move()).toEqual([false, 1]);
    await service.query(`UPDATE opportunity_states SET built_through = NULL WHERE tenant_id = '${tenantId}'`);
    expect(await move()).toEqual([false, 0]);
  });

  test.each([
    ["built", buildSummaries],
    ["changed", moveChanges],
  ])("are not %s while holidays change", async (_, work) => {
    const tenantId = await openTenant();
    const release = await holdCalendar(tenantId);
    await expect(run(tenantId, work)).rejects.toThrow("lock timeout");
    await release();
    expect(await run(tenantId, work)).toBe(false);
  });
});

test("the job continues with the other tenants if it fails for one, and then fails", async () => {
  for (let i = 0; i < 2; i++) await openTenant();
  const [first, ...others] = await findTenantsWithoutSummaries(database);
  expect(others).not.toEqual([]);
  const release = await holdCalendar(`${first}`);
  await expect(summarizeWaits(database)).rejects.toThrow("lock timeout");
  expect(await findTenantsWithoutSummaries(database)).toEqual([first]);
  await release();
  await summarizeWaits(database);
  expect(await findTenantsWithoutSummaries(database)).toEqual([]);
});

/** Locks the calendar of a tenant as a change of holidays does. Returns the function that releases it. */
async function holdCalendar(tenantId: string): Promise<() => Promise<unknown>> {
  const holder = new Client(service.databaseUrl);
  onTestFinished(() => holder.end());
  await holder.connect();
  await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${tenantId}'; SELECT FROM calendars FOR NO KEY UPDATE`);
  return () => holder.query("ROLLBACK");
}

/** Opens a clinic in a new tenant. Returns the id of the tenant. */
async function openTenant({ materialized = true } = {}): Promise<string> {
  const tenantId = randomUUID();
  await openClinic(service, { as: { tenantId }, materialized });
  if (!materialized) {
    await service.query(`UPDATE programs SET materialized_through = NULL WHERE tenant_id = '${tenantId}'`);
  }
  return tenantId;
}

function run<Result>(tenantId: string, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  return runAsTenant(database, tenantId, LIMITS, work);
}

async function setBuilt(tenantId: string, through: string | null): Promise<void> {
  const value = through === null ? "NULL" : `'${through}'`;
  await service.query(`INSERT INTO opportunity_states VALUES ('${tenantId}', ${value})`);
}

function builtOf(tenantId: string) {
  return service.query(`SELECT built_through AS built FROM opportunity_states WHERE tenant_id = '${tenantId}'`);
}

async function addChange(tenantId: string): Promise<void> {
  await service.query(`INSERT INTO opportunity_changes SELECT '${tenantId}', gen_random_uuid(), gen_random_uuid(), 1,
    gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), true, d, d, d, 'OTHER', false, 0
    FROM (SELECT date '2027-01-05' AS d) AS n`);
}

async function countChanges(tenantId: string): Promise<number> {
  return (await service.query(`SELECT FROM opportunity_changes WHERE tenant_id = '${tenantId}'`)).length;
}

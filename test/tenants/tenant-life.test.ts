import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { TenantService } from "../../src/gen/cupo/clinic/v1/tenant_service_pb.js";
import { eraseTenants } from "../../src/jobs/erase-tenants.js";
import { offerFreedSlots } from "../../src/jobs/offer-freed-slots.js";
import { summarizeWaits } from "../../src/jobs/summarize-waits.js";
import { writeTimeEvents } from "../../src/jobs/write-time-events.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { takesIdempotencyKey } from "../../src/operation.js";
import type { Database } from "../../src/postgres/database.js";
import { createTwin } from "../every-operation/tenant-twin.js";
import { type ExampleCalls, exampleCalls, startDemoService, unaryMethods } from "../openapi/example-calls.js";
import { mustCall } from "../schedule/clinic.js";
import { execute } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { itemsOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { openCall } from "./open-call.js";
import { filledTables, rowsOf, type TenantRows, tablesOfTenants } from "./tenant-rows.js";

const { createTenant, getTenant, suspendTenant, resumeTenant, exportTenant, eraseTenant } = TenantService.method;
const NAME = "Clínica Los Cerezos";
const TWIN_NAME = "Clínica gemela";
const TWIN_ID = randomUUID();
const OPERATOR = { tenantId: randomUUID() };
const MINUTE_MS = 60_000;
/** Examples that fill tables which those that others depend on leave empty. */
const FILLING = [
  "CreateNote",
  "GetPatient",
  "HoldAppointmentOption",
  "ImportResources",
  "MergePatients",
  "TestWebhook",
  "UpdateTenantSettings",
];

let service: TestService;
let database: Database;
let examples: ExampleCalls;
const requests = new Map<string, JsonObject>();

beforeAll(async () => {
  service = await startDemoService();
  database = openServiceDatabase(service.databaseUrl);
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
  for (const name of unaryMethods.keys()) requests.set(name, await examples.request(name));
  for (const name of FILLING) expect((await examples.call(name)).status).toBe(200);
  await createTwin(service, DEMO_TENANT_ID, TWIN_ID);
  for (const [tenantId, displayName] of [
    [DEMO_TENANT_ID, NAME],
    [TWIN_ID, TWIN_NAME],
  ])
    expect((await operate(createTenant, { tenantId, displayName } as JsonObject)).status).toBe(200);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

describe("a suspended tenant", () => {
  let before: TenantRows;

  beforeAll(async () => {
    await operate(suspendTenant, { tenantId: DEMO_TENANT_ID, expectedVersion: 1 });
    before = await rowsOf(service, DEMO_TENANT_ID);
  });

  test.each([...unaryMethods.values()].map((method) => ({ name: method.name, method })))(
    "$name is answered as a read, or is a conflict",
    async ({ name, method }) => {
      const answer = await callRpc(service, method as DescMethodUnary, requests.get(name), {
        as: { tenantId: DEMO_TENANT_ID },
      });
      if (!takesIdempotencyKey(method)) return expect([answer.status, answer.text]).toEqual([200, answer.text]);
      expect({ status: answer.status, items: itemsOf(answer) }).toEqual({ status: 409, items: [" TENANT_SUSPENDED"] });
    },
  );

  test("is left alone by background jobs, and caught up on afterwards", async () => {
    service.advance(2 * 24 * 60 * MINUTE_MS);
    await runJobs();
    expect(await rowsOf(service, DEMO_TENANT_ID)).toEqual(before);
    await operate(resumeTenant, { tenantId: DEMO_TENANT_ID, expectedVersion: 2 });
    await runJobs();
    expect(await rowsOf(service, DEMO_TENANT_ID)).not.toEqual({ ...before, tenants: expect.anything() });
    expect((await examples.call("CreateNote")).status).toBe(200);
  });
});

describe("an export", () => {
  test("has every row of every table, and none of another tenant", async () => {
    await operate(suspendTenant, { tenantId: TWIN_ID, expectedVersion: 1 });
    const found = await exportAll(TWIN_ID);
    const tables = await filledTables(service, TWIN_ID);
    expect([...found.keys()].toSorted()).toEqual(tables);
    for (const table of tables) {
      const rows = await service.query(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE tenant_id = '${TWIN_ID}'`);
      const stored = rows.map(({ row }) => JSON.stringify(row)).toSorted();
      expect(
        found
          .get(table)
          ?.map((json) => JSON.stringify(JSON.parse(json)))
          .toSorted(),
      ).toEqual(stored);
    }
    const counts = Object.fromEntries([...found].map(([table, rows]) => [table, rows.length]));
    expect(await exportsOf(TWIN_ID)).toEqual([
      { action: "EXPORT_BEGUN", details: null },
      { action: "EXPORTED", details: counts },
    ]);
  });

  test("has no page after the last row", async () => {
    const tenantId = randomUUID();
    await operate(createTenant, { tenantId, displayName: NAME });
    const { body } = await operate(exportTenant, { tenantId, pageSize: 1 });
    expect(body).toEqual({ rows: [expect.objectContaining({ table: "tenants" })], nextPageToken: "" });
    expect(await exportsOf(tenantId)).toEqual([{ action: "EXPORTED", details: { tenants: 1 } }]);
  });

  test("that ends early leaves the row of its beginning", async () => {
    const before = await exportsOf(TWIN_ID);
    expect((await operate(exportTenant, { tenantId: TWIN_ID, pageSize: 5 })).status).toBe(200);
    expect(await exportsOf(TWIN_ID)).toEqual([...before, { action: "EXPORT_BEGUN", details: null }]);
    const absent = await operate(exportTenant, { tenantId: randomUUID() });
    expect([absent.status, await exportsOf(TWIN_ID)]).toEqual([
      404,
      [...before, { action: "EXPORT_BEGUN", details: null }],
    ]);
  });
});

describe("an erasure", () => {
  let others: TenantRows;

  beforeAll(async () => {
    others = await rowsOf(service, DEMO_TENANT_ID);
  });

  test("needs the display name", async () => {
    const request = { tenantId: TWIN_ID, expectedVersion: 2, confirmedDisplayName: NAME };
    const answer = await operate(eraseTenant, request);
    expect([answer.status, itemsOf(answer)]).toEqual([422, ["confirmedDisplayName INVALID_VALUE"]]);
  });

  test("deletes no row of a tenant that is not being erased, and no record", async () => {
    const setting = `SET cupo.tenant_id = '${TWIN_ID}'`;
    const erase = (table: string) =>
      execute(
        service.databaseUrl,
        setting,
        "SET cupo.erasing = 'on'",
        `SELECT * FROM cupo_erase_rows('${table}', NULL, 9)`,
      );
    const before = await rowsOf(service, TWIN_ID);
    expect(await erase("payers")).toEqual([{ erased: null, last: null }]);
    await expect(erase("tenants")).rejects.toThrow("the record of a tenant is not erased");
    expect(await rowsOf(service, TWIN_ID)).toEqual(before);
  });

  test("continues after a process dies, waits for a call that began before it, and leaves only the record without its name", async () => {
    const tables = await filledTables(service, TWIN_ID);
    expect((await tablesOfTenants(service)).filter((table) => !tables.includes(table))).toEqual(UNFILLED);
    const counted = Object.values(await rowsOf(service, TWIN_ID)).reduce((sum, { count }) => sum + count, 0);
    const call = await openCall(service.databaseUrl, TWIN_ID);
    const answer = await operate(eraseTenant, {
      tenantId: TWIN_ID,
      expectedVersion: 2,
      confirmedDisplayName: TWIN_NAME,
    });
    expect(answer.body["tenant"]).toMatchObject({ state: "ERASING", version: 3, displayName: TWIN_NAME });
    for (const most of [3, 30, 200]) {
      await expect(eraseTenants({ ...erasure(), database: dyingAfter(most), batch: 50 })).rejects.toThrow("died");
    }
    expect((await filledTables(service, TWIN_ID)).length).toBeLessThan(tables.length);
    expect(await eraseTenants({ ...erasure(), batch: 50 })).toBe(true);
    expect(await filledTables(service, TWIN_ID)).toEqual(["tenants"]);
    expect(await tenantOf(TWIN_ID)).toMatchObject({ state: "ERASING" });
    await call.write();
    expect(await filledTables(service, TWIN_ID)).toEqual(["holidays", "tenants"]);
    await eventually(async () => !(await eraseTenants({ ...erasure(), batch: 50 })));
    expect(await filledTables(service, TWIN_ID)).toEqual(["tenants"]);
    const erased = await tenantOf(TWIN_ID);
    expect(erased).toMatchObject({ state: "ERASED", version: 4 });
    expect(erased).not.toHaveProperty("displayName");
    expect(Number(erased["erasedRowCount"])).toBeGreaterThanOrEqual(counted - 1);
  });

  test("leaves the other tenants as they were", async () => {
    expect(await rowsOf(service, DEMO_TENANT_ID)).toEqual(others);
    const as = { tenantId: DEMO_TENANT_ID };
    const { invariantReport } = await mustCall({ service, as }, "VerifyInvariants", {});
    expect(invariantReport).toMatchObject({ findings: [] });
  });

  test("leaves a tenant that a late token cannot fill again", async () => {
    const as = { tenantId: TWIN_ID };
    const answer = await callRpc(
      service,
      unaryMethods.get("CreateNote") as DescMethodUnary,
      requests.get("CreateNote"),
      { as },
    );
    expect([answer.status, itemsOf(answer)]).toEqual([409, [" TENANT_SUSPENDED"]]);
    const again = await operate(createTenant, { tenantId: TWIN_ID, displayName: "Otra" });
    expect([again.status, itemsOf(again)]).toEqual([409, ["tenantId DUPLICATE"]]);
    const events = await callRpc(service, EventService.method.listEvents, {}, { as });
    expect([events.status, itemsOf(events)]).toEqual([409, [" TENANT_SUSPENDED"]]);
    expect(await filledTables(service, TWIN_ID)).toEqual(["tenants"]);
  });

  test("is in the audit trail of the operators, with the tenant as its resource", async () => {
    const rows = await service.query(
      `SELECT action FROM audit_events WHERE tenant_id = '${OPERATOR.tenantId}' AND resource_id = '${TWIN_ID}' ORDER BY id`,
    );
    expect(rows.map(({ action }) => action)).toEqual([
      "CREATE",
      "UPDATE",
      "EXPORT_BEGUN",
      "EXPORTED",
      "EXPORT_BEGUN",
      "DELETE",
    ]);
  });
});

/** Tables that no example fills. */
const UNFILLED = ["freed_slots", "opportunity_changes", "quota_windows", "unfilled_minutes"];

function operate(method: DescMethodUnary, request: JsonObject) {
  return callRpc(service, method, request, { as: OPERATOR });
}

async function tenantOf(tenantId: string): Promise<JsonObject> {
  return (await operate(getTenant, { tenantId })).body["tenant"] as JsonObject;
}

/** Returns the audit rows of the exports of a tenant. Requires each to name the operation and who called. */
async function exportsOf(tenantId: string) {
  const rows = await service.query(`SELECT * FROM audit_events WHERE resource_id = '${tenantId}'
    AND action LIKE 'EXPORT%' ORDER BY id`);
  for (const row of rows) {
    expect(row).toMatchObject({
      resource_type: "Tenant",
      principal: expect.any(String),
      occurred_at: expect.any(Date),
    });
    expect(row["tenant_id"]).not.toBe(tenantId);
  }
  return rows.map(({ action, details }) => ({ action, details }));
}

async function exportAll(tenantId: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  let pageToken = "";
  do {
    const { status, body } = await operate(exportTenant, { tenantId, pageSize: 37, pageToken });
    expect(status).toBe(200);
    for (const { table, json } of body["rows"] as { table: string; json: string }[])
      found.set(table, [...(found.get(table) ?? []), json]);
    pageToken = (body["nextPageToken"] as string | undefined) ?? "";
  } while (pageToken !== "");
  return found;
}

function erasure() {
  return { database, now: service.now, logger: pino({ level: "silent" }) };
}

/** The database for a process that is killed when it wants its n-th connection. */
function dyingAfter(most: number): Database {
  let acquired = 0;
  const acquire = () => ((acquired += 1) > most ? Promise.reject(new Error("died")) : database.acquire());
  return new Proxy(database, { get: (target, name) => (name === "acquire" ? acquire : Reflect.get(target, name)) });
}

async function runJobs(): Promise<void> {
  const ports = { database, now: service.now, noShowGraceMinutes: 15, callsEndMs: 0 };
  await writeTimeEvents(ports);
  await offerFreedSlots(ports);
  await summarizeWaits(database);
}

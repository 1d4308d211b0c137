import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CatalogAdminService } from "../../src/gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import { TenantService } from "../../src/gen/cupo/clinic/v1/tenant_service_pb.js";
import { CLINIC_BASE_PATH } from "../../src/operation.js";
import { extensionKey } from "../../src/postgres/job-queue.js";
import { localDateAt } from "../../src/scheduling/local-clock.js";
import { operatorsOf } from "../../src/trusted-issuer.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { sendRequest } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { filledTables } from "./tenant-rows.js";

const { createTenant, getTenant, listTenants, suspendTenant, resumeTenant, exportTenant, eraseTenant } =
  TenantService.method;
const OPERATORS = randomUUID();
const displayName = "Centro Médico La Ceiba";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ OPERATOR_TENANT_ID: OPERATORS.toUpperCase(), PUBLIC_CLINIC_API: "all" });
});

afterAll(() => service.close());

describe("a caller of another tenant than the operators'", () => {
  test.each(TenantService.methods.map((method) => ({ name: method.name, method })))(
    "$name: 403 with the scope, also for its own tenant",
    async ({ method }) => {
      const tenantId = await newTenant();
      const request = {
        ...(method.input.field["tenantId"] === undefined ? {} : { tenantId }),
        ...(method.input.field["displayName"] === undefined ? {} : { displayName, tenantId: randomUUID() }),
        ...(method.input.field["expectedVersion"] === undefined ? {} : { expectedVersion: 1 }),
        ...(method.input.field["confirmedDisplayName"] === undefined ? {} : { confirmedDisplayName: displayName }),
      };
      expectRefusal(await callRpc(service, method as DescMethodUnary, request, { as: { tenantId } }), 403);
      expect(await operate(getTenant, { tenantId })).toMatchObject({
        body: { tenant: { state: "ACTIVE", version: 1 } },
      });
      expect(await filledTables(service, tenantId)).toEqual(["tenants"]);
    },
  );
});

test("without the setting nobody is an operator, except with the development issuer", () => {
  const keys = { file: "keys.json" };
  const issuer = { issuer: "https://issuer.test", audience: "cupo", keys };
  const [one, other] = [{ tenantId: randomUUID() }, { tenantId: randomUUID() }];
  expect(operatorsOf({ operatorTenantId: undefined, issuer })(one)).toBe(false);
  expect(operatorsOf({ operatorTenantId: undefined, issuer: undefined })(one)).toBe(true);
  expect([one, other].map(operatorsOf({ operatorTenantId: one.tenantId, issuer }))).toEqual([true, false]);
  expect([one, other].map(operatorsOf({ operatorTenantId: one.tenantId, issuer: undefined }))).toEqual([true, false]);
});

test("the public listener has no operation of tenants", async () => {
  const token = await service.token({ tenantId: OPERATORS });
  const status = async (url: string) =>
    (await sendRequest("GET", `${url}${CLINIC_BASE_PATH}/tenants`, { token })).status;
  expect([await status(service.internalUrl), await status(service.publicUrl)]).toEqual([200, 404]);
});

describe("the steps of a tenant", () => {
  test("each need the state before them", async () => {
    const tenantId = await newTenant();
    const step = (method: DescMethodUnary, expectedVersion: number, more: JsonObject = {}) =>
      operate(method, { tenantId, expectedVersion, ...more });
    const confirmed = { confirmedDisplayName: displayName };
    expectRefusal(await step(resumeTenant, 1), 409, ["tenantId STATE_NOT_ALLOWED"]);
    expectRefusal(await step(eraseTenant, 1, confirmed), 409, ["tenantId STATE_NOT_ALLOWED"]);
    expectRefusal(await step(suspendTenant, 2), 409, ["expectedVersion STALE_VERSION"]);
    expect((await step(suspendTenant, 1)).body["tenant"]).toMatchObject({ state: "SUSPENDED", version: 2 });
    expectRefusal(await step(suspendTenant, 2), 409, ["tenantId STATE_NOT_ALLOWED"]);
    expect((await step(eraseTenant, 2, confirmed)).status).toBe(200);
    for (const method of [suspendTenant, resumeTenant])
      expectRefusal(await step(method, 3), 409, ["tenantId STATE_NOT_ALLOWED"]);
  });

  test("cannot begin for the operators' own tenant, or without a record: 409, 404", async () => {
    await operate(createTenant, { tenantId: OPERATORS, displayName });
    const own = await operate(suspendTenant, { tenantId: OPERATORS, expectedVersion: 1 });
    expectRefusal(own, 409, ["tenantId STATE_NOT_ALLOWED"]);
    const absent = { tenantId: randomUUID() };
    expectRefusal(await operate(suspendTenant, { ...absent, expectedVersion: 1 }), 404);
    for (const method of [getTenant, exportTenant]) expectRefusal(await operate(method, absent), 404);
  });

  test("request its schedules when it resumes, because jobs did not extend them meanwhile", async () => {
    const tenantId = await newTenant();
    const jobs = `SELECT FROM graphile_worker.jobs WHERE key = '${extensionKey(tenantId)}'`;
    await operate(suspendTenant, { tenantId, expectedVersion: 1 });
    expect(await service.query(jobs)).toHaveLength(0);
    await operate(resumeTenant, { tenantId, expectedVersion: 2 });
    expect(await service.query(jobs)).toHaveLength(1);
  });

  test("are events of the operators' tenant", async () => {
    const tenantId = await newTenant();
    await operate(suspendTenant, { tenantId, expectedVersion: 1 });
    const { body } = await operate(EventService.method.listEvents, { resourceTypes: ["TENANT"], start: "OLDEST" });
    const events = body["events"] as { readonly type: string; readonly subject: string }[];
    const own = events.filter(({ subject }) => subject === `tenant/${tenantId}`).map(({ type }) => type);
    expect(own).toEqual(["cupo.tenant.created", "cupo.tenant.updated"]);
  });
});

describe("CreateTenant", () => {
  test("creates catalogs that the tenant can use, with their events", async () => {
    const as = { tenantId: await newTenant({ withDefaults: true }) };
    const { listAppointmentTypes, listRequestSources, listCancellationReasons, listNoShowReasons } =
      CatalogAdminService.method;
    interface Listed extends JsonObject {
      readonly code: string;
      readonly date: string;
    }
    const listed = async (method: DescMethodUnary, list: string) =>
      (await callRpc(service, method, { pageSize: 200 }, { as })).body[list] as Listed[];
    const codesOf = (resources: readonly Listed[]) => resources.map(({ code }) => code).toSorted();
    const types = await listed(listAppointmentTypes, "appointmentTypes");
    expect(codesOf(types)).toContain("PRIMERA");
    const sources = await listed(listRequestSources, "requestSources");
    expect(codesOf(sources)).toEqual(["ALIADOS", "CALLCENTER", "PORTAL", "VENTANILLA"]);
    const reasons = [
      ...(await listed(listCancellationReasons, "cancellationReasons")),
      ...(await listed(listNoShowReasons, "noShowReasons")),
    ];
    const explained = reasons.filter(({ requiresComment }) => requiresComment);
    expect(codesOf(explained)).toEqual(["OTRA", "SEDE", "SIN-DOCUMENTOS"]);
    expect([...types, ...sources, ...reasons].filter(({ active }) => active !== true)).toEqual([]);
    const holidays = await listed(ProgramService.method.listHolidays, "holidays");
    const years = holidays.map(({ date }) => date.slice(0, 4)).toSorted();
    const year = localDateAt(service.now()).slice(0, 4);
    expect(years).toEqual([...Array(18).fill(year), ...Array(18).fill(`${Number(year) + 1}`)]);
    const events = await callRpc(service, EventService.method.listEvents, { start: "OLDEST", pageSize: 200 }, { as });
    const [row] = await service.query(
      `SELECT count(*)::integer AS n FROM audit_events WHERE tenant_id = '${as.tenantId}'`,
    );
    expect(events.body["events"]).toHaveProperty("length", row?.["n"]);
    expect(row?.["n"]).toBe(4 + 6 + 3 + 4 + 3 + 4 + 36);
  });

  test("changes nothing if one of the codes exists: 409", async () => {
    const tenantId = randomUUID();
    const reason = { code: "OTRA", name: "Otra", requiresComment: false, active: true };
    await service.request("POST", "/admin/configuration/cancellation-reasons", {
      token: await service.token({ tenantId }),
      body: reason,
    });
    const answer = await operate(createTenant, { tenantId, displayName, withDefaults: true });
    expectRefusal(answer, 409, ["code DUPLICATE"]);
    expectRefusal(await operate(getTenant, { tenantId }), 404);
  });
});

test("ListTenants has pages of all tenants, whoever created them", async () => {
  const made = [await newTenant(), await newTenant()];
  const ids: string[] = [];
  let pageToken = "";
  do {
    const { body } = await operate(listTenants, { pageSize: 3, pageToken });
    ids.push(...(body["tenants"] as { tenantId: string }[]).map(({ tenantId }) => tenantId));
    pageToken = (body["nextPageToken"] as string | undefined) ?? "";
  } while (pageToken !== "");
  expect(ids).toEqual(expect.arrayContaining(made));
  expect(ids).toEqual([...new Set(ids)].toSorted());
});

function operate(method: DescMethodUnary, request: JsonObject) {
  return callRpc(service, method, request, { as: { tenantId: OPERATORS } });
}

async function newTenant(changes: JsonObject = {}): Promise<string> {
  const { body } = await operate(createTenant, { displayName, ...changes });
  return (body["tenant"] as { readonly tenantId: string }).tenantId;
}

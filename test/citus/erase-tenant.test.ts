import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { TenantService } from "../../src/gen/cupo/clinic/v1/tenant_service_pb.js";
import { eraseTenants } from "../../src/jobs/erase-tenants.js";
import { startDemoService } from "../openapi/example-calls.js";
import { withoutCitus } from "../support/citus.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { openCall } from "../tenants/open-call.js";
import { filledTables } from "../tenants/tenant-rows.js";

const LONG_MS = 300_000;
const { createTenant, suspendTenant, eraseTenant, getTenant } = TenantService.method;
const [tenantId, displayName] = [DEMO_TENANT_ID, "Clínica Los Cerezos"];
const OPERATOR = { tenantId: randomUUID() };

describe.skipIf(withoutCitus !== "")(`a tenant of a cluster${withoutCitus}`, () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startDemoService();
  }, LONG_MS);

  afterAll(() => service.close(), LONG_MS);

  test(
    "is erased but for its record, after a call that began before",
    async () => {
      await succeed(createTenant, { tenantId, displayName });
      const call = await openCall(service.databaseUrl, tenantId);
      await succeed(suspendTenant, { tenantId, expectedVersion: 1 });
      await succeed(eraseTenant, { tenantId, expectedVersion: 2, confirmedDisplayName: displayName });
      const database = openServiceDatabase(service.databaseUrl);
      const ports = { database, now: service.now, logger: pino({ level: "silent" }), batch: 200 };
      expect(await eraseTenants(ports)).toBe(true);
      expect(await filledTables(service, tenantId)).toEqual(["tenants"]);
      expect(await succeed(getTenant, { tenantId })).toMatchObject({ tenant: { state: "ERASING" } });
      await call.write();
      expect(await filledTables(service, tenantId)).toEqual(["holidays", "tenants"]);
      await eventually(async () => !(await eraseTenants(ports)));
      await database.close();
      expect(await filledTables(service, tenantId)).toEqual(["tenants"]);
      expect(await succeed(getTenant, { tenantId })).toMatchObject({ tenant: { state: "ERASED" } });
    },
    LONG_MS,
  );

  async function succeed(method: DescMethodUnary, request: JsonObject): Promise<JsonObject> {
    const { status, text, body } = await callRpc(service, method, request, { as: OPERATOR });
    expect([status, text]).toEqual([200, text]);
    return body as JsonObject;
  }
});

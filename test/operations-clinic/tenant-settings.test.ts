import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { TenantSettingsService } from "../../src/gen/cupo/clinic/v1/tenant_settings_service_pb.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { expectRefusal } from "./rpc-under-test.js";

const { getTenantSettings, updateTenantSettings, listTenantSettingsChanges } = TenantSettingsService.method;
const VALUES = {
  reminderOffsetMinutes: [2880, 1440],
  horizonDays: 90,
  minimumNoticeMinutes: 0,
  checkInEarlyMinutes: 240,
  attendedEarlyMinutes: 60,
  noShowGraceMinutes: 15,
  lateEntryDays: 7,
};
const DEFAULTS = { ...VALUES, version: 1 };
const MASK = "reminderOffsetMinutes";

let service: TestService;
let as: TokenFor;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

beforeEach(() => {
  as = { tenantId: randomUUID() };
});

describe("GetTenantSettings", () => {
  test("returns defaults with version 1 before the first change", async () => {
    expect(await settings()).toEqual(DEFAULTS);
  });

  test("is GET /tenant-settings over REST", async () => {
    const { status, body } = await overRest("GET");
    expect([status, body]).toEqual([200, DEFAULTS]);
  });
});

describe("UpdateTenantSettings", () => {
  test("stores the first change as version 2, for every caller of the tenant and no other tenant", async () => {
    const changed = { ...VALUES, reminderOffsetMinutes: [20160, 15], version: 2, updatedAt: expect.any(String) };
    expect(await update({ reminderOffsetMinutes: [20160, 15], expectedVersion: 1 })).toMatchObject({ status: 200 });
    expect(await settings()).toEqual(changed);
    expect(await settings({ as: { ...as, organizationId: randomUUID() } })).toEqual(changed);
    expect(await settings({ as: { tenantId: randomUUID() } })).toEqual(DEFAULTS);
  });

  test("keeps an empty list, which is not the default", async () => {
    expect((await update({ expectedVersion: 1, updateMask: MASK })).status).toBe(200);
    expect(await settings()).toMatchObject({ version: 2 });
    expect((await settings())["reminderOffsetMinutes"] ?? []).toEqual([]);
  });

  test("keeps for how long freed slots are offered, and removes it to offer none", async () => {
    expect((await update({ freedSlotOfferMinutes: 30, expectedVersion: 1 })).status).toBe(200);
    expect(await settings()).toMatchObject({ ...DEFAULTS, freedSlotOfferMinutes: 30, version: 2 });
    expect((await update({ expectedVersion: 2, updateMask: "freedSlotOfferMinutes" })).status).toBe(200);
    expect(await settings()).not.toHaveProperty("freedSlotOfferMinutes");
  });

  test("keeps how many days back visits can be entered, 0 to 7", async () => {
    expect((await update({ lateEntryDays: 0, expectedVersion: 1 })).status).toBe(200);
    expect(await settings()).toMatchObject({ lateEntryDays: 0, version: 2 });
    for (const lateEntryDays of [-1, 8])
      expectRefusal(await update({ lateEntryDays, expectedVersion: 2 }), 422, ["lateEntryDays OUT_OF_RANGE"]);
  });

  test.each([4, 1441])("rejects to offer freed slots for %i minutes: 422", async (freedSlotOfferMinutes) => {
    const answer = await update({ freedSlotOfferMinutes, expectedVersion: 1 });
    expectRefusal(answer, 422, ["freedSlotOfferMinutes OUT_OF_RANGE"]);
  });

  test("is audited and in the feed, with the tenant as its resource", async () => {
    await update({ reminderOffsetMinutes: [60], expectedVersion: 1 });
    const { body } = await callRpc(service, EventService.method.listEvents, {}, { as });
    expect(body["events"]).toMatchObject([
      {
        type: "cupo.tenant_settings.updated",
        resourceType: "TENANT_SETTINGS",
        resourceId: as.tenantId,
        resourceVersion: 2,
      },
    ]);
  });

  test("is a conflict with any other version, and changes nothing", async () => {
    for (const expectedVersion of [0, 2]) {
      const answer = await update({ reminderOffsetMinutes: [60], expectedVersion });
      expectRefusal(answer, 409, ["expectedVersion STALE_VERSION"]);
    }
    expect(await settings()).toEqual(DEFAULTS);
  });

  test("lets one of two first changes at the same time win", async () => {
    const answers = await Promise.all([60, 90].map((m) => update({ reminderOffsetMinutes: [m], expectedVersion: 1 })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(await settings()).toMatchObject({ version: 2 });
  });

  test("changes nothing if no attribute is set", async () => {
    expect((await update({ expectedVersion: 1 })).status).toBe(200);
    expect(await settings()).toEqual(DEFAULTS);
  });

  test.each([
    ["below 15 minutes", [14], "reminderOffsetMinutes[0] OUT_OF_RANGE"],
    ["above 14 days", [60, 20161], "reminderOffsetMinutes[1] OUT_OF_RANGE"],
    ["twice the same", [60, 60], "reminderOffsetMinutes[1] DUPLICATE"],
    ["more than five", [15, 16, 17, 18, 19, 20], "reminderOffsetMinutes TOO_MANY"],
  ])("rejects offsets %s", async (_, reminderOffsetMinutes, item) => {
    expectRefusal(await update({ reminderOffsetMinutes, expectedVersion: 1 }), 422, [item]);
  });

  test("is PATCH /tenant-settings over REST", async () => {
    const { status, body } = await overRest("PATCH", { reminderOffsetMinutes: [30], expectedVersion: 1 });
    expect([status, body]).toMatchObject([200, { reminderOffsetMinutes: [30], version: 2 }]);
  });
});

describe("ListTenantSettingsChanges", () => {
  test("returns each change with the settings after it, oldest first, and who made it", async () => {
    const request = { reminderOffsetMinutes: [60], horizonDays: 30, expectedVersion: 1 };
    await callRpc(service, updateTenantSettings, request, { as, headers: { "actor-id": "desk-7" } });
    await update({ updateMask: "horizonDays", expectedVersion: 2 });
    const by = { principal: expect.any(String), correlationId: expect.any(String), changedAt: expect.any(String) };
    const first = { ...VALUES, reminderOffsetMinutes: [60], horizonDays: 30, version: 2 };
    const second = { ...first, horizonDays: 90, version: 3 };
    const one = { ...by, tenantSettings: { ...first, updatedAt: by.changedAt }, actor: "desk-7" };
    const two = { ...by, tenantSettings: { ...second, updatedAt: by.changedAt } };
    expect(await listed({ pageSize: 1 })).toEqual([one]);
    expect(await listed()).toEqual([one, two]);
  });

  test("returns nothing before the first change, and nothing of another tenant", async () => {
    expect(await listed()).toEqual([]);
    await update({ horizonDays: 30, expectedVersion: 1 });
    as = { tenantId: randomUUID() };
    expect(await listed()).toEqual([]);
  });
});

async function listed(request: JsonObject = {}): Promise<unknown> {
  return (await callRpc(service, listTenantSettingsChanges, request, { as })).body["changes"];
}

function update(request: JsonObject) {
  return callRpc(service, updateTenantSettings, request, { as });
}

async function settings(changes: RpcChanges = { as }): Promise<JsonObject> {
  const { body } = await callRpc(service, getTenantSettings, {}, changes);
  return body["tenantSettings"] as JsonObject;
}

async function overRest(method: string, body?: JsonObject) {
  const response = await fetch(`${service.internalUrl}/api/clinic/v1/tenant-settings`, {
    method,
    headers: {
      authorization: `Bearer ${await service.token(as)}`,
      ...(body === undefined ? {} : { "content-type": "application/json", "idempotency-key": randomUUID() }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

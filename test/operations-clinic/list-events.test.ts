import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { insertUnplaced } from "../events/feed-under-test.js";
import { bookFirst, mustCall, openClinic } from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import * as resources from "./resources-under-test.js";
import { expectRefusal, type Item, itemsIn } from "./rpc-under-test.js";
import { mustBlock } from "./schedule-block-fixtures.js";

const { listEvents } = EventService.method;
/** Resource types that belong to an organization and company. */
const OWNED_TYPES = new Set(
  `APPOINTMENT_TYPE CANCELLATION_REASON CONSULTATION_TYPE CONTRACT COVERED_SERVICES HEALTHCARE_SERVICE LOCATION NO_SHOW_REASON
   OPPORTUNITY_DEFINITION PAYER PRACTITIONER PROGRAM PROGRAM_PRACTITIONERS PROGRAM_RULE PROGRAM_SERVICES REQUEST_SOURCE
   SCHEDULE SCHEDULE_BLOCK WEBHOOK`.split(/\s+/),
);
const OWNED = `SELECT 1 FROM event_positions WHERE organization_id IS NOT NULL AND tenant_id = `;

let service: TestService;
let as: TokenFor;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

beforeEach(() => {
  as = { tenantId: randomUUID() };
});

describe("an event", () => {
  test("has only the attributes of CloudEvents and of its audit row", async () => {
    const patientId = (await fixtures.registerPatient(service, {}, as)).id;
    const [row] = await auditRows();
    expect(await events()).toEqual([
      {
        eventId: row?.["id"],
        source: `/tenants/${as.tenantId}`,
        specVersion: "1.0",
        type: "cupo.patient.created",
        subject: `patient/${patientId}`,
        time: new Date(String(row?.["at"])).toISOString(),
        resourceType: "PATIENT",
        resourceId: patientId,
        resourceVersion: 1,
        correlationId: row?.["correlation_id"],
      },
    ]);
  });

  test("exists for each audit row, of every kind of change, ordered by version", async () => {
    const clinic = await openClinic(service, { as });
    const patientId = (await fixtures.registerPatient(service, {}, as)).id;
    await bookFirst(clinic, patientId, {});
    await mustBlock(clinic, { programId: clinic.programId });
    await decideEligibility(patientId);
    const given = await events();
    const audit = await auditRows();
    expect(new Set(given.map(({ eventId }) => eventId))).toEqual(new Set(audit.map(({ id }) => id)));
    expect(given).toHaveLength(audit.length);
    const created = `appointment appointment_type contract eligibility_decision healthcare_service location opportunity_definition
      patient payer practitioner program program_rule request_source schedule_block`;
    const types = [
      ...created.split(/\s+/).map((name) => `cupo.${name}.created`),
      ...["program_practitioners", "program_services", "schedule"].map((name) => `cupo.${name}.updated`),
    ];
    expect(new Set(given.map(({ type }) => type))).toEqual(new Set(types));
    const unversioned = given.filter(({ resourceVersion }) => resourceVersion === undefined);
    expect(new Set(unversioned.map(({ resourceType }) => resourceType))).toEqual(
      new Set(["ELIGIBILITY_DECISION", "SCHEDULE"]),
    );
  });

  test("is not written by a failed call, and only once by a call that is replayed", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const token = await service.token(as);
    const body = registration();
    for (const expected of [201, 201])
      expect((await service.request("POST", "/patients", { token, headers, body })).status).toBe(expected);
    expect((await service.request("POST", "/patients", { token, body })).status).toBe(409);
    expect(await events()).toHaveLength(1);
  });

  test("contains no request data but ids", async () => {
    const marker = "Zyxwvu";
    const body = registration({ fullName: marker, email: `${marker}@example.com`, documentNumber: `${marker}1` });
    await service.request("POST", "/patients", { token: await service.token(as), body });
    const { text } = await list();
    expect(text).toContain("cupo.patient.created");
    expect(text.toLowerCase()).not.toContain(marker.toLowerCase());
  });
});

describe("pages", () => {
  test("follow one another by their cursors, and the last cursor also returns later events", async () => {
    const ids = await createPatients(5);
    const first = await list({ pageSize: 2 });
    const second = await list({ pageSize: 2, cursor: cursorOf(first) });
    const third = await list({ pageSize: 2, cursor: cursorOf(second) });
    expect([first, second, third].map((page) => idsOf(page))).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect([first, second, third].map(({ body }) => body["hasMore"])).toEqual([true, true, false]);
    const nothing = await list({ cursor: cursorOf(third) });
    expect(nothing.body).toEqual({ events: [], nextCursor: cursorOf(third), hasMore: false });
    const later = await createPatients(1);
    expect(idsOf(await list({ cursor: cursorOf(nothing) }))).toEqual(later);
    expect(idsOf(await list({ cursor: cursorOf(first) }))).toEqual([...ids.slice(2), ...later]);
  });

  test("start with the oldest event, or after all of them on request", async () => {
    expect((await list()).body).toMatchObject({ events: [], hasMore: false });
    const ids = await createPatients(2);
    for (const request of [{}, { start: "OLDEST" }]) expect(idsOf(await list(request))).toEqual(ids);
    const now = await list({ start: "NOW" });
    expect(now.body).toMatchObject({ events: [], hasMore: false });
    const later = await createPatients(1);
    expect(idsOf(await list({ cursor: cursorOf(now) }))).toEqual(later);
  });

  test("have only the requested resource types, and skip the others", async () => {
    const [patientId] = await createPatients(1);
    const payerId = (await resources.createResource(service, resources.payer, {}, as)).id;
    await createPatients(1);
    const page = await list({ resourceTypes: ["PAYER"] });
    expect(idsOf(page)).toEqual([payerId]);
    expect((await list({ cursor: cursorOf(page) })).body["events"]).toEqual([]);
    expect(idsOf(await list({ resourceTypes: ["PAYER", "PATIENT"], pageSize: 2 }))).toEqual([patientId, payerId]);
    expect((await list({ resourceTypes: ["HOLIDAY"] })).body).toMatchObject({ events: [], hasMore: false });
  });

  test("end with a cursor if none of a thousand events has a requested type", async () => {
    await createPatients(1);
    await fill(1_500);
    const first = await list({ resourceTypes: ["HOLIDAY"] });
    expect(first.body).toMatchObject({ events: [], hasMore: true });
    const second = await list({ resourceTypes: ["HOLIDAY"], cursor: cursorOf(first) });
    expect(second.body).toMatchObject({ events: [], hasMore: false });
    const holidayId = await createHoliday();
    expect(idsOf(await list({ resourceTypes: ["HOLIDAY"], cursor: cursorOf(second) }))).toEqual([holidayId]);
  });
});

describe("events are sent to", () => {
  test("callers of the same organization or company only, if the resource belongs to one", async () => {
    const owner = { ...as, organizationId: randomUUID(), companyId: randomUUID() };
    await changeEverything(owner);
    const all = await events(owner);
    expect(await service.query(`${OWNED}'${as.tenantId}'`)).toHaveLength(all.length);
    expect(new Set(all.map(({ resourceType }) => resourceType))).toEqual(OWNED_TYPES);
    for (const other of [
      {},
      { organizationId: owner.organizationId },
      { companyId: owner.companyId },
      { organizationId: randomUUID(), companyId: owner.companyId },
    ])
      expect(await events({ ...as, ...other })).toEqual([]);
  });

  test("all callers in the tenant, if the resource belongs to the whole tenant", async () => {
    const owner = { ...as, organizationId: randomUUID() };
    const payerId = (await resources.createResource(service, resources.payer, {}, as)).id;
    const request = { payerId, name: "Otro nombre", expectedVersion: 1, updateMask: "name" };
    expect((await callRpc(service, rpcNamed("UpdatePayer"), request, { as: owner })).status).toBe(200);
    const patientId = (await fixtures.registerPatient(service, {}, owner)).id;
    for (const other of [as, owner, { ...as, organizationId: randomUUID() }])
      expect((await events(other)).map(({ resourceId }) => resourceId)).toEqual([payerId, payerId, patientId]);
  });

  test("nobody of another tenant", async () => {
    await createPatients(1);
    expect(await events({ tenantId: randomUUID() })).toEqual([]);
  });
});

describe("a cursor", () => {
  const otherForm = `Ag${"A".repeat(32)}`;
  const otherSpelling = `AQ${"A".repeat(31)}B`;

  test.each(["x", "AAAA", "AQ", "a".repeat(128), "é", otherForm, otherSpelling])(
    "that is invalid is rejected: %s",
    async (cursor) => {
      expectRefusal(await list({ cursor }), 422, ["cursor INVALID_VALUE"]);
    },
  );

  test.each([
    ["", "TOO_SHORT"],
    ["a".repeat(129), "TOO_LONG"],
  ])("has limits of its length", async (cursor, code) => {
    expectRefusal(await list({ cursor }), 422, [`cursor ${code}`]);
  });

  test("that was altered is rejected, or stands for a position that the caller may read anyway", async () => {
    await createPatients(2);
    const cursor = cursorOf(await list({ pageSize: 1 }));
    for (const [place, letter] of Array.from(cursor).entries()) {
      const altered = `${cursor.slice(0, place)}${letter === "A" ? "B" : "A"}${cursor.slice(place + 1)}`;
      const { status } = await list({ cursor: altered });
      expect([200, 409, 422], `place ${place}`).toContain(status);
    }
  });

  test("of another tenant belongs to no feed: 409", async () => {
    await createPatients(1);
    const cursor = cursorOf(await list());
    expectRefusal(await list({ cursor }, { as: { tenantId: randomUUID() } }), 409, ["cursor OUT_OF_RANGE"]);
  });

  test("is rejected if events after it have been purged, otherwise accepted", async () => {
    await createPatients(3);
    const [first, second] = [await list({ pageSize: 1 }), await list({ pageSize: 2 })];
    await service.query(`DELETE FROM event_positions WHERE tenant_id = '${as.tenantId}' AND position <= 2`);
    expectRefusal(await list({ cursor: cursorOf(first) }), 409, ["cursor OUT_OF_RANGE"]);
    expect(idsOf(await list({ cursor: cursorOf(second) }))).toHaveLength(1);
    expect(idsOf(await list())).toHaveLength(1);
  });

  test("of a feed that was reset is rejected", async () => {
    await createPatients(3);
    const cursor = cursorOf(await list());
    const ofTenant = `WHERE tenant_id = '${as.tenantId}'`;
    await service.query(`DELETE FROM event_positions ${ofTenant} AND position = 3`);
    await service.query(`UPDATE event_feeds SET last_position = 2 ${ofTenant}`);
    expectRefusal(await list({ cursor }), 409, ["cursor OUT_OF_RANGE"]);
    const older = cursorOf(await list());
    await service.query(`UPDATE event_feeds SET feed_id = '${randomUUID()}' ${ofTenant}`);
    expectRefusal(await list({ cursor: older }), 409, ["cursor OUT_OF_RANGE"]);
  });

  test("cannot be combined with a start", async () => {
    const cursor = cursorOf(await list());
    expectRefusal(await list({ cursor, start: "OLDEST" }), 422, ["start INVALID_VALUE"]);
  });
});

test.each([
  [{ resourceTypes: ["RESOURCE_TYPE_UNSPECIFIED"] }, "resourceTypes[0] INVALID_VALUE"],
  [{ resourceTypes: ["PAYER", "PAYER"] }, "resourceTypes[1] DUPLICATE"],
])("unknown or repeated resource types are rejected: %o", async (request, item) => {
  expectRefusal(await list(request), 422, [item]);
});

function list(request: JsonObject = {}, changes: RpcChanges = {}) {
  return callRpc(service, listEvents, request, { as, ...changes });
}

async function events(who: TokenFor = as): Promise<Item[]> {
  return itemsIn(await list({ pageSize: 200 }, { as: who }), "events");
}

function idsOf(page: Awaited<ReturnType<typeof list>>): unknown[] {
  return itemsIn(page, "events").map(({ resourceId }) => resourceId);
}

function cursorOf({ status, body }: Awaited<ReturnType<typeof list>>): string {
  expect(status).toBe(200);
  return String(body["nextCursor"]);
}

async function createPatients(count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await fixtures.registerPatient(service, {}, as)).id);
  return ids;
}

async function createHoliday(): Promise<string> {
  const body = { date: "2026-12-24", name: "Nochebuena", active: true };
  const path = "/admin/configuration/scheduling/holidays";
  return String((await service.request("POST", path, { token: await service.token(as), body })).body["id"]);
}

async function decideEligibility(patientId: string): Promise<void> {
  const contractId = (await resources.createResource(service, resources.contract, {}, as)).id;
  const [contract] = await service.query(`SELECT payer_id FROM contracts WHERE id = '${contractId}'`);
  const serviceId = (await resources.createResource(service, resources.healthcareService, {}, as)).id;
  const body = { patientId, payerId: contract?.["payer_id"], contractId, serviceId, serviceDate: "2026-11-20" };
  const answer = await service.request("POST", "/eligibility-checks", { token: await service.token(as), body });
  expect(answer.status).toBe(200);
}

/** Creates and changes a resource of each type that has an owner. */
async function changeEverything(owner: TokenFor): Promise<void> {
  const clinic = await openClinic(service, { as: owner });
  const { programId, ruleId } = clinic;
  const { scheduleBlock } = await mustBlock(clinic, { programId });
  const { scheduleBlockId } = scheduleBlock;
  await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
  const rename = { expectedVersion: 1, updateMask: "name", name: "Otro" };
  await mustCall(clinic, "UpdateProgram", { programId, ...rename });
  await mustCall(clinic, "UpdateProgramRule", {
    programId,
    ruleId,
    expectedVersion: 1,
    updateMask: "dailyCapacity",
    dailyCapacity: 7,
  });
  const { webhook } = await mustCall(clinic, "CreateWebhook", { url: "https://receiver.example.com/cupo" });
  const { webhookId } = webhook as { webhookId: string };
  await mustCall(clinic, "RotateWebhookSecret", { webhookId, expectedVersion: 1 });
  await mustCall(clinic, "DeleteWebhook", { webhookId, expectedVersion: 2 });
  const location = { code: "IMPORTED", name: "Sede norte", active: true };
  await mustCall(clinic, "ImportResources", { sourceSystem: "old", rows: [{ sourceId: "L1", location }] });
  const contractId = (await resources.createResource(service, resources.contract, {}, owner)).id;
  await mustCall(clinic, "ReplaceCoveredServices", { contractId, serviceIds: [], expectedVersion: 1 });
  for (const resource of Object.values(resources)) {
    if (typeof resource === "function") continue;
    const { id } = await resources.createResource(service, resource, {}, owner);
    const [attribute = "", value = ""] = Object.entries(resource.changes)[0] ?? [];
    const { input } = resources.rpcNamed(`Update${resource.type}`);
    const change = { expectedVersion: 1, updateMask: attribute, [attribute]: value };
    await mustCall(clinic, `Update${resource.type}`, { [resources.idNameOf(input)]: id, ...change });
  }
}

function auditRows(): Promise<Record<string, unknown>[]> {
  return service.query(
    `SELECT *, to_json(occurred_at) #>> '{}' AS at FROM audit_events WHERE tenant_id = '${as.tenantId}' ORDER BY id`,
  );
}

/** Writes `count` changes of patients that are not in the feed yet. */
async function fill(count: number): Promise<void> {
  await service.query(insertUnplaced(`${as.tenantId}`, count));
}

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { describeAccess, expectRefusal, expectTokenIsBound, idsOf, itemsIn, walkPages } from "./rpc-under-test.js";

const { getWaitlistEntry, listWaitlistEntries, closeWaitlistEntry } = DeskService.method;

let service: TestService;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await startTestService();
  make = deskFixtures(service);
});

afterAll(() => service.close());

describe("GetWaitlistEntry", () => {
  describeAccess(
    {
      method: getWaitlistEntry,
      scope: "desk:read",
      id: "waitlistEntryId",
      prepare: async (target) => ({ waitlistEntryId: await deskFixtures(target).entry() }),
    },
    () => service,
  );

  test("gives every field as it was recorded", async () => {
    const recorded = {
      patientId: await make.patient(),
      serviceId: await make.healthcareService(),
      dateFrom: "2026-02-28",
      dateTo: "9999-12-31",
      preferredPeriods: ["NIGHT", "MORNING", "EVENING", "AFTERNOON"],
      locationId: await make.location(),
      practitionerId: await make.practitioner(),
    };
    const id = await make.entry(recorded);
    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(await get(id)).toEqual({ id, createdAt, status: "ACTIVE", ...recorded });
  });

  test("has neither location nor practitioner where any suits, and no closure while it is open", async () => {
    const entry = await get(await make.entry());
    const members = ["id", "createdAt", "status", "patientId", "serviceId", "dateFrom", "dateTo", "preferredPeriods"];
    expect(Object.keys(entry).toSorted()).toEqual(members.toSorted());
  });
});

describe("ListWaitlistEntries", () => {
  describeAccess(
    { method: listWaitlistEntries, scope: "desk:read", prepare: async () => ({ pageSize: 1 }) },
    () => service,
  );

  test("walks all entries of the tenant, the oldest first, each once", async () => {
    const { as, ids } = await makeEntries(5);
    const pages = await walkPages(service, listWaitlistEntries, "waitlistEntries", { pageSize: 2 }, { as });
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    const entry = await callRpc(service, getWaitlistEntry, { waitlistEntryId: `${ids[0]}` }, { as });
    expect(pages[0]?.[0]).toEqual(entry.body["waitlistEntry"]);
  });

  test("lists those of a status, a patient, a service, open or closed, and of all of these", async () => {
    const as = { tenantId: randomUUID() };
    const fixtures = deskFixtures(service, as);
    const [patientId, serviceId] = [await fixtures.patient(), await fixtures.healthcareService()];
    const both = await fixtures.entry({ patientId, serviceId });
    const ofPatient = await fixtures.entry({ patientId });
    const ofService = await fixtures.entry({ serviceId });
    await service.query(`UPDATE waitlist_entries SET status = 'OPEN' WHERE id = '${ofPatient}'`);
    await close(both, {}, { as });
    const list = async (request: JsonObject) =>
      idsOf(itemsIn(await callRpc(service, listWaitlistEntries, request, { as }), "waitlistEntries"));
    expect(await list({})).toEqual([both, ofPatient, ofService]);
    expect(await list({ patientId: patientId.toUpperCase() })).toEqual([both, ofPatient]);
    expect(await list({ serviceId })).toEqual([both, ofService]);
    expect(await list({ status: "OPEN" })).toEqual([ofPatient]);
    expect(await list({ status: "RECEIVED" })).toEqual([]);
    expect(await list({ closed: true })).toEqual([both]);
    expect(await list({ closed: false })).toEqual([ofPatient, ofService]);
    expect(await list({ patientId, serviceId, status: "ACTIVE", closed: true })).toEqual([both]);
    expect(await list({ patientId, serviceId, status: "ACTIVE", closed: false })).toEqual([]);
    expect(await list({ patientId: randomUUID() })).toEqual([]);
  });

  test("refuses a page token for other filters, or one that was altered", async () => {
    const { as } = await makeEntries(3);
    const others = [{ status: "ACTIVE" }, { patientId: randomUUID() }, { serviceId: randomUUID() }, { closed: false }];
    for (const other of others) {
      await expectTokenIsBound(service, listWaitlistEntries, { request: {}, other }, { as });
    }
  });

  test("names every filter that cannot be one", async () => {
    const request = { pageSize: -1, status: 0, patientId: "1", serviceId: "2" };
    expectRefusal(await callRpc(service, listWaitlistEntries, request), 422, [
      "pageSize OUT_OF_RANGE",
      "status INVALID_VALUE",
      "patientId INVALID_UUID",
      "serviceId INVALID_UUID",
    ]);
  });
});

describe("CloseWaitlistEntry", () => {
  describeAccess(
    {
      method: closeWaitlistEntry,
      scope: "desk:write",
      id: "waitlistEntryId",
      prepare: async (target) => ({ waitlistEntryId: await deskFixtures(target).entry(), reason: "Atendido." }),
    },
    () => service,
  );

  test("adds when, by whom and why it was closed, changes nothing else, and leaves one audit row", async () => {
    const id = await make.entry();
    const before = await get(id);
    const reason = "Atendida en otra sede.\nNo espera más.";
    const answer = await close(id, { reason }, { as: { client: "front-desk" } });
    const { closedAt, ...closed } = answer.body["waitlistEntry"] as { closedAt: string };
    expect(closed).toEqual({ ...before, closedBy: expect.stringContaining("front-desk"), closeReason: reason });
    expect(Math.abs(Date.parse(closedAt) - service.now())).toBeLessThan(60_000);
    expect(await get(id)).toEqual(answer.body["waitlistEntry"]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "WaitlistEntry", resource_id: id, resource_version: null },
    ]);
  });

  test("is refused for what is closed already, which stays as it is", async () => {
    const id = await make.entry();
    await close(id);
    const before = await get(id);
    expectRefusal(await close(id, { reason: "Otra vez." }), 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
    expect(await get(id)).toEqual(before);
  });

  test("lets one of several at once close it", async () => {
    const id = await make.entry();
    const answers = await Promise.all(["a", "b", "c", "d"].map((reason) => close(id, { reason })));
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(winner?.body["waitlistEntry"]).toEqual(await get(id));
    for (const other of others) expectRefusal(other, 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
  });

  test("needs a reason of 1 to 500 characters", async () => {
    const id = await make.entry();
    expectRefusal(await callRpc(service, closeWaitlistEntry), 422, ["waitlistEntryId REQUIRED", "reason REQUIRED"]);
    expectRefusal(await close(id, { reason: "é".repeat(501) }), 422, ["reason TOO_LONG"]);
    expect((await close(id, { reason: "" })).status).toBe(422);
    expect((await close(id, { reason: " " })).status).toBe(422);
    expect((await close(id, { reason: "é".repeat(500) })).status).toBe(200);
  });
});

async function get(id: string): Promise<JsonObject> {
  const { body } = await callRpc(service, getWaitlistEntry, { waitlistEntryId: id });
  return body["waitlistEntry"] as JsonObject;
}

function close(id: string, request: JsonObject = {}, changes?: RpcChanges) {
  return callRpc(service, closeWaitlistEntry, { waitlistEntryId: id, reason: "Atendido.", ...request }, changes);
}

/** A tenant with so many entries, in the order in which they were made. */
async function makeEntries(count: number): Promise<{ as: { tenantId: string }; ids: string[] }> {
  const as = { tenantId: randomUUID() };
  const fixtures = deskFixtures(service, as);
  const recorded = { patientId: await fixtures.patient(), serviceId: await fixtures.healthcareService() };
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await fixtures.entry(recorded));
  return { as, ids };
}

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { createAppointment } from "../contract/fixtures.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal, expectTokenIsBound, idsOf, itemsIn, walkPages } from "./rpc-under-test.js";

const { getWaitlistEntry, listWaitlistEntries, closeWaitlistEntry } = DeskService.method;

let service: TestService;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await shareTestService();
  make = deskFixtures(service);
});

afterAll(() => service.close());

describe("GetWaitlistEntry", () => {
  test("returns every field as it was recorded", async () => {
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
    expect(await get(id)).toEqual({
      waitlistEntryId: id,
      createdAt,
      status: "ACTIVE",
      version: 1,
      ...recorded,
      earlierWishes: [],
    });
  });

  test("has no location and no practitioner if any suits, and no closure while it is open", async () => {
    const entry = await get(await make.entry());
    const always = ["waitlistEntryId", "createdAt", "status", "version", "patientId", "serviceId"];
    const members = [...always, "dateFrom", "dateTo", "preferredPeriods", "earlierWishes"];
    expect(Object.keys(entry).toSorted()).toEqual(members.toSorted());
  });
});

describe("ListWaitlistEntries", () => {
  test("lists all entries of the tenant, the oldest first, each once", async () => {
    const { as, ids } = await makeEntries(5);
    const pages = await walkPages(service, listWaitlistEntries, "waitlistEntries", { pageSize: 2 }, { as });
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    const entry = await callRpc(service, getWaitlistEntry, { waitlistEntryId: `${ids[0]}` }, { as });
    expect(pages[0]?.[0]).toEqual(entry.body["waitlistEntry"]);
  });

  test("filters by statuses, patient, service, location and practitioner, and by all of these together", async () => {
    const as = { tenantId: randomUUID() };
    const fixtures = deskFixtures(service, as);
    const [patientId, serviceId] = [await fixtures.patient(), await fixtures.healthcareService()];
    const [locationId, practitionerId] = [await fixtures.location(), await fixtures.practitioner()];
    const both = await fixtures.entry({ patientId, serviceId });
    const ofPatient = await fixtures.entry({ patientId, locationId });
    const ofService = await fixtures.entry({ serviceId, practitionerId });
    await close(both, {}, { as });
    const list = async (request: JsonObject) =>
      idsOf(itemsIn(await callRpc(service, listWaitlistEntries, request, { as }), "waitlistEntries"));
    expect(await list({})).toEqual([both, ofPatient, ofService]);
    expect(await list({ patientId: patientId.toUpperCase() })).toEqual([both, ofPatient]);
    expect(await list({ serviceId })).toEqual([both, ofService]);
    expect(await list({ locationId })).toEqual([ofPatient]);
    expect(await list({ practitionerId })).toEqual([ofService]);
    expect(await list({ statuses: ["CLOSED"] })).toEqual([both]);
    expect(await list({ statuses: ["ACTIVE"] })).toEqual([ofPatient, ofService]);
    expect(await list({ statuses: ["CLOSED", "ACTIVE"] })).toEqual([both, ofPatient, ofService]);
    expect(await list({ patientId, serviceId, statuses: ["CLOSED"] })).toEqual([both]);
    expect(await list({ patientId, serviceId, statuses: ["ACTIVE"] })).toEqual([]);
    expect(await list({ patientId: randomUUID() })).toEqual([]);
  });

  test("filters by the clinic's dates of creation", async () => {
    const { as, ids } = await makeEntries(2);
    const [late, early] = ids;
    await service.query(`UPDATE waitlist_entries SET created_at = '2026-03-02T05:00:00Z' WHERE id = '${late}'`);
    await service.query(`UPDATE waitlist_entries SET created_at = '2026-03-02T04:59:59.999Z' WHERE id = '${early}'`);
    const list = async (request: JsonObject) =>
      idsOf(itemsIn(await callRpc(service, listWaitlistEntries, request, { as }), "waitlistEntries"));
    expect(await list({})).toEqual([early, late]);
    expect(await list({ createdTo: "2026-03-01" })).toEqual([early]);
    expect(await list({ createdFrom: "2026-03-02" })).toEqual([late]);
    expect(await list({ createdFrom: "2026-03-01", createdTo: "2026-03-02" })).toEqual([early, late]);
    expect(await list({ createdFrom: "2026-03-03" })).toEqual([]);
  });

  test("rejects a page token of other filters, and an altered one", async () => {
    const { as } = await makeEntries(3);
    const ids = ["patientId", "serviceId", "locationId", "practitionerId"].map((name) => ({ [name]: randomUUID() }));
    for (const other of [...ids, { statuses: ["ACTIVE"] }, { createdTo: "2030-01-01" }]) {
      await expectTokenIsBound(service, listWaitlistEntries, { request: {}, other }, { as });
    }
  });

  test("lists each invalid filter", async () => {
    const request = { pageSize: -1, statuses: [0, 1, 1], patientId: "1", serviceId: "2", createdFrom: "2026-02-30" };
    expectRefusal(await callRpc(service, listWaitlistEntries, request), 422, [
      "pageSize OUT_OF_RANGE",
      "statuses[0] INVALID_VALUE",
      "statuses[2] DUPLICATE",
      "patientId INVALID_UUID",
      "serviceId INVALID_UUID",
      "createdFrom INVALID_DATE",
    ]);
  });
});

describe("CloseWaitlistEntry", () => {
  test("records when, by whom and why it was closed, changes nothing else, and writes one audit row", async () => {
    const id = await make.entry();
    const before = await get(id);
    const reason = "Atendida en otra sede.\nNo espera más.";
    const answer = await close(id, { reason }, { as: { client: "front-desk" }, headers: { "actor-id": "agent-7" } });
    const { closedAt, ...closed } = answer.body["waitlistEntry"] as { closedAt: string };
    const closedBy = expect.stringContaining("front-desk");
    const closure = { closedBy, closedByActor: "agent-7", closeReason: reason };
    expect(closed).toEqual({ ...before, status: "CLOSED", version: 2, ...closure });
    expect(Math.abs(Date.parse(closedAt) - service.now())).toBeLessThan(60_000);
    expect(await get(id)).toEqual(answer.body["waitlistEntry"]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "WaitlistEntry", resource_id: id, resource_version: 2 },
    ]);
  });

  test("records the appointment that served the patient, which must be the patient's", async () => {
    const patientId = await make.patient();
    const id = await make.entry({ patientId });
    const appointmentId = await createAppointment(service, patientId);
    expectRefusal(await close(id, { appointmentId: randomUUID() }), 404, ["appointmentId NOT_FOUND"]);
    const foreign = await createAppointment(service, await make.patient());
    expectRefusal(await close(id, { appointmentId: foreign }), 422, ["appointmentId INVALID_VALUE"]);
    expect(await get(id)).toMatchObject({ status: "ACTIVE", version: 1 });
    await close(id, { appointmentId });
    expect(await get(id)).toMatchObject({ status: "CLOSED", appointmentId });
  });

  test("is rejected for another version, and for a closed entry, which stays unchanged", async () => {
    const id = await make.entry();
    expectRefusal(await close(id, { expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
    await close(id);
    const before = await get(id);
    const again = { reason: "Otra vez.", expectedVersion: 2 };
    expectRefusal(await close(id, again), 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
    expect(await get(id)).toEqual(before);
  });

  test("is replayed if its key is sent again", async () => {
    const id = await make.entry();
    const headers = { "idempotency-key": randomUUID() };
    const first = await close(id, {}, { headers });
    const second = await close(id, {}, { headers });
    expect([second.body, second.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
  });

  test("one of several concurrent callers closes it", async () => {
    const id = await make.entry();
    const answers = await Promise.all(["a", "b", "c", "d"].map((reason) => close(id, { reason })));
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(winner?.body["waitlistEntry"]).toEqual(await get(id));
    for (const other of others) expectRefusal(other, 409, ["expectedVersion STALE_VERSION"]);
  });

  test("requires a reason of 1 to 500 characters", async () => {
    const id = await make.entry();
    expectRefusal(await callRpc(service, closeWaitlistEntry), 422, [
      "waitlistEntryId REQUIRED",
      "expectedVersion REQUIRED",
      "reason REQUIRED",
    ]);
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
  return callRpc(
    service,
    closeWaitlistEntry,
    { waitlistEntryId: id, expectedVersion: 1, reason: "Atendido.", ...request },
    changes,
  );
}

/** Creates a tenant with `count` entries. Returns their ids in the order of creation. */
async function makeEntries(count: number): Promise<{ as: { tenantId: string }; ids: string[] }> {
  const as = { tenantId: randomUUID() };
  const fixtures = deskFixtures(service, as);
  const recorded = { patientId: await fixtures.patient(), serviceId: await fixtures.healthcareService() };
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await fixtures.entry(recorded));
  return { as, ids };
}

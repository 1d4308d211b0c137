import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal } from "./rpc-under-test.js";

const { changeWaitlistEntry, closeWaitlistEntry, getWaitlistEntry } = DeskService.method;
const WISH: JsonObject = { dateFrom: "2026-01-01", dateTo: "9999-12-30", preferredPeriods: ["EVENING", "NIGHT"] };

let service: TestService;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await shareTestService();
  make = deskFixtures(service);
});

afterAll(() => service.close());

describe("ChangeWaitlistEntry", () => {
  test("replaces the wish, keeps the place in line and shows what was before", async () => {
    const before = { locationId: await make.location(), practitionerId: await make.practitioner() };
    const id = await make.entry(before);
    const { earlierWishes: _, ...entry } = await get(id);
    const actor = "recepcion-7";
    const answer = await change(id, 1, WISH, { headers: { "actor-id": actor } });
    const { locationId, practitionerId, ...rest } = entry;
    const changed = await get(id);
    expect(changed).toEqual({ ...rest, ...WISH, version: 2, earlierWishes: [expect.anything()] });
    expect(answer.body["waitlistEntry"]).toEqual(changed);
    const { dateFrom, dateTo, preferredPeriods } = entry;
    expect(changed["earlierWishes"]).toMatchObject([
      { dateFrom, dateTo, preferredPeriods, locationId, practitionerId, replacedByActor: actor },
    ]);
    expect(await auditOf(service, answer)).toMatchObject([{ action: "UPDATE", resource_version: 2 }]);
    await change(id, 2, { ...WISH, ...before });
    expect((await get(id))["earlierWishes"]).toMatchObject([before, WISH]);
  });

  test("rejects another version, a closed entry and the 101st change", async () => {
    const id = await make.entry();
    expectRefusal(await change(id, 2), 409, ["expectedVersion STALE_VERSION"]);
    const wish = JSON.stringify({ ...WISH, replacedAt: new Date(0).toISOString(), replacedBy: "x" });
    await service.query(
      `UPDATE waitlist_entries SET earlier_wishes = (SELECT jsonb_agg('${wish}'::jsonb) FROM generate_series(1, 99)) WHERE id = '${id}'`,
    );
    expect((await change(id, 1)).status).toBe(200);
    expectRefusal(await change(id, 2), 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
    const closed = await make.entry();
    await callRpc(service, closeWaitlistEntry, { waitlistEntryId: closed, expectedVersion: 1, reason: "Atendida." });
    expectRefusal(await change(closed, 2), 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
  });

  test("rejects dates in the past and in the wrong order, and references that are unknown or not active", async () => {
    const id = await make.entry();
    expectRefusal(await change(id, 1, { dateTo: "2026-01-02" }), 422, ["dateTo OUT_OF_RANGE"]);
    expectRefusal(await change(id, 1, { dateFrom: "9999-12-31" }), 422, ["dateTo INVALID_RANGE"]);
    const unknown = { locationId: randomUUID(), practitionerId: randomUUID() };
    const items = ["locationId NOT_FOUND", "practitionerId NOT_FOUND"];
    expectRefusal(await change(id, 1, unknown), 404, items);
    const practitionerId = await make.practitioner();
    const { updatePractitioner } = ReferenceDataService.method;
    await callRpc(service, updatePractitioner, { practitionerId, active: false, expectedVersion: 1 });
    expectRefusal(await change(id, 1, { practitionerId }), 422, ["practitionerId INVALID_VALUE"]);
    expect(await get(id)).toMatchObject({ version: 1, earlierWishes: [] });
  });
});

function change(waitlistEntryId: string, expectedVersion: number, wish: JsonObject = {}, changes: RpcChanges = {}) {
  return callRpc(service, changeWaitlistEntry, { waitlistEntryId, expectedVersion, ...WISH, ...wish }, changes);
}

async function get(waitlistEntryId: string): Promise<JsonObject> {
  return (await callRpc(service, getWaitlistEntry, { waitlistEntryId })).body["waitlistEntry"] as JsonObject;
}

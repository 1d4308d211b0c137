import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { createAppointment } from "../contract/fixtures.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal, expectTokenIsBound, idsOf, itemsIn, walkPages } from "./rpc-under-test.js";

const { getCase, listCases, takeCase, closeCase } = DeskService.method;
const NOT_ALLOWED = ["userAttentionCaseId STATE_NOT_ALLOWED"];
const STALE = ["expectedVersion STALE_VERSION"];

let service: TestService;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await startTestService();
  make = deskFixtures(service);
});

afterAll(() => service.close());

describe("GetCase", () => {
  test.each(["INFORMATION_REQUEST", "COMPLAINT", "CLAIM", "SUGGESTION", "COMPLIMENT"])(
    "returns every field of a case of category %s as recorded",
    async (category) => {
      const recorded = {
        category,
        externalReference: "PQR 2026/17",
        description: "La espera fue larga.\n\tNadie avisó 😕",
        patientId: await make.patient(),
      };
      const id = await make.attentionCase(recorded);
      const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(await get(id)).toEqual({
        userAttentionCaseId: id,
        createdAt,
        status: "RECEIVED",
        version: 1,
        ...recorded,
      });
    },
  );

  test("returns the appointment of the case, and omits appointment and patient if there is none", async () => {
    const id = await make.attentionCase();
    const members = [
      "category",
      "createdAt",
      "description",
      "externalReference",
      "status",
      "userAttentionCaseId",
      "version",
    ];
    expect(Object.keys(await get(id)).toSorted()).toEqual(members);
    const appointmentId = await createAppointment(service, await make.patient());
    await service.query(`UPDATE user_attention_cases SET appointment_id = '${appointmentId}' WHERE id = '${id}'`);
    expect(await get(id)).toMatchObject({ appointmentId });
  });
});

describe("ListCases", () => {
  test("lists all cases of the tenant, the oldest first, each once", async () => {
    const { as, ids } = await makeCases(5);
    const pages = await walkPages(service, listCases, "userAttentionCases", { pageSize: 2 }, { as });
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    const answer = await callRpc(service, getCase, { userAttentionCaseId: `${ids[0]}` }, { as });
    expect(pages[0]?.[0]).toEqual(answer.body["userAttentionCase"]);
  });

  test("filters by statuses, patient and dates, and by all of these together", async () => {
    const as = { tenantId: randomUUID() };
    const fixtures = deskFixtures(service, as);
    const patientId = await fixtures.patient();
    const [taken, closed, untouched] = [
      await fixtures.attentionCase({ patientId }),
      await fixtures.attentionCase({ patientId }),
      await fixtures.attentionCase(),
    ];
    await take(taken, {}, { as });
    await close(closed, {}, { as });
    const list = async (request: JsonObject) =>
      idsOf(itemsIn(await callRpc(service, listCases, request, { as }), "userAttentionCases"));
    expect(await list({})).toEqual([taken, closed, untouched]);
    expect(await list({ patientId })).toEqual([taken, closed]);
    expect(await list({ statuses: ["OPEN"] })).toEqual([taken]);
    expect(await list({ statuses: ["RECEIVED"] })).toEqual([untouched]);
    expect(await list({ statuses: ["CLOSED"] })).toEqual([closed]);
    expect(await list({ statuses: ["RECEIVED", "OPEN"] })).toEqual([taken, untouched]);
    expect(await list({ patientId, statuses: ["OPEN", "RECEIVED"] })).toEqual([taken]);
    await service.query(
      `UPDATE user_attention_cases SET created_at = '2026-03-02T04:59:59.999Z' WHERE id = '${closed}'`,
    );
    const on = (day: string) => list({ createdFrom: day, createdTo: day });
    expect([await on("2026-02-28"), await on("2026-03-01"), await on("2026-03-02")]).toEqual([[], [closed], []]);
    expect(await list({ createdTo: "2026-03-01" })).toEqual([closed]);
    expect(await list({ createdFrom: "2026-03-02" })).toEqual([taken, untouched]);
    expect(await list({})).toEqual([closed, taken, untouched]);
  });

  test("rejects a page token of other filters, and an altered one", async () => {
    const { as } = await makeCases(3);
    for (const other of [{ statuses: ["RECEIVED"] }, { patientId: randomUUID() }, { createdFrom: "2026-01-01" }]) {
      await expectTokenIsBound(service, listCases, { request: {}, other }, { as });
    }
  });

  test("lists each invalid filter", async () => {
    const request = { pageSize: -1, statuses: [0], patientId: "1", createdFrom: "2026-02-02", createdTo: "2026-02-01" };
    expectRefusal(await callRpc(service, listCases, request), 422, [
      "pageSize OUT_OF_RANGE",
      "statuses[0] INVALID_VALUE",
      "patientId INVALID_UUID",
      "createdTo INVALID_RANGE",
    ]);
  });
});

describe("TakeCase", () => {
  test("moves a case from RECEIVED to OPEN, records who took it and when, and writes one audit row", async () => {
    const id = await make.attentionCase();
    const before = await get(id);
    const answer = await take(id, {}, { as: { client: "front-desk" }, headers: { "actor-id": "agent-7" } });
    const { takenAt, ...taken } = answer.body["userAttentionCase"] as { takenAt: string };
    const taking = { takenBy: expect.stringContaining("front-desk"), takenByActor: "agent-7" };
    expect(taken).toEqual({ ...before, status: "OPEN", version: 2, ...taking });
    expect(Math.abs(Date.parse(takenAt) - service.now())).toBeLessThan(60_000);
    expect(await get(id)).toEqual(answer.body["userAttentionCase"]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "UserAttentionCase", resource_id: id, resource_version: 2 },
    ]);
  });

  test("is rejected for an OPEN case", async () => {
    const id = await make.attentionCase();
    await take(id);
    expectRefusal(await take(id, { expectedVersion: 2 }), 409, NOT_ALLOWED);
    expect(await get(id)).toMatchObject({ status: "OPEN", version: 2 });
  });

  test("is rejected for a closed case", async () => {
    const id = await make.attentionCase();
    await close(id);
    expectRefusal(await take(id, { expectedVersion: 2 }), 409, NOT_ALLOWED);
    expect(await get(id)).toMatchObject({ status: "CLOSED", version: 2 });
  });

  test("is rejected for another version, before the status is checked", async () => {
    const id = await make.attentionCase();
    expectRefusal(await take(id, { expectedVersion: 2 }), 409, STALE);
    await close(id);
    expectRefusal(await take(id), 409, STALE);
  });

  test("is replayed if its key is sent again", async () => {
    const id = await make.attentionCase();
    const headers = { "idempotency-key": randomUUID() };
    const first = await take(id, {}, { headers });
    const second = await take(id, {}, { headers });
    expect([second.body, second.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
  });

  test("one of several concurrent callers takes the case", async () => {
    const id = await make.attentionCase();
    const answers = await Promise.all(Array.from({ length: 5 }, () => take(id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 409, STALE);
  });
});

describe("CloseCase", () => {
  test.each(["RECEIVED", "OPEN"])("closes a case with status %s", async (status) => {
    const id = await make.attentionCase();
    if (status === "OPEN") await take(id);
    const before = await get(id);
    const request = { reason: "Se llamó a la usuaria.", expectedVersion: before["version"] as number };
    const answer = await close(id, request, { as: { client: "front-desk" }, headers: { "actor-id": "agent-8" } });
    const { closedAt, ...closed } = answer.body["userAttentionCase"] as { closedAt: string; version: number };
    expect(closed).toEqual({
      ...before,
      status: "CLOSED",
      version: request.expectedVersion + 1,
      closedBy: expect.stringContaining("front-desk"),
      closedByActor: "agent-8",
      closeReason: "Se llamó a la usuaria.",
    });
    expect(Math.abs(Date.parse(closedAt) - service.now())).toBeLessThan(60_000);
    expect(await get(id)).toEqual(answer.body["userAttentionCase"]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "UserAttentionCase", resource_id: id, resource_version: closed.version },
    ]);
  });

  test("is rejected for a closed case, which stays unchanged, even if several are sent concurrently", async () => {
    const id = await make.attentionCase();
    const answers = await Promise.all(["a", "b", "c"].map((reason) => close(id, { reason })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const before = await get(id);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 409, STALE);
    expectRefusal(await close(id, { expectedVersion: 2 }), 409, NOT_ALLOWED);
    expect(await get(id)).toEqual(before);
  });

  test("requires a reason of 1 to 500 characters", async () => {
    expectRefusal(await callRpc(service, closeCase), 422, [
      "userAttentionCaseId REQUIRED",
      "expectedVersion REQUIRED",
      "reason REQUIRED",
    ]);
    expectRefusal(await close(await make.attentionCase(), { reason: "x".repeat(501) }), 422, ["reason TOO_LONG"]);
  });
});

test("the description of a case is not logged", async () => {
  const description = `Queja ${randomUUID()}`;
  const id = await make.attentionCase({ description });
  await take(id);
  await close(id, { expectedVersion: 2 });
  expect(await get(id)).toMatchObject({ description, status: "CLOSED" });
  expect(JSON.stringify(service.log)).not.toContain(description);
});

async function get(id: string): Promise<JsonObject> {
  return (await callRpc(service, getCase, { userAttentionCaseId: id })).body["userAttentionCase"] as JsonObject;
}

function take(id: string, request: JsonObject = {}, changes?: RpcChanges) {
  return callRpc(service, takeCase, { userAttentionCaseId: id, expectedVersion: 1, ...request }, changes);
}

function close(id: string, request: JsonObject = {}, changes?: RpcChanges) {
  const all = { userAttentionCaseId: id, expectedVersion: 1, reason: "Resuelto.", ...request };
  return callRpc(service, closeCase, all, changes);
}

/** Creates a tenant with `count` cases. Returns their ids in the order of creation. */
async function makeCases(count: number): Promise<{ as: { tenantId: string }; ids: string[] }> {
  const as = { tenantId: randomUUID() };
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await deskFixtures(service, as).attentionCase());
  return { as, ids };
}

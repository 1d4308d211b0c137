import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { createAppointment } from "../contract/makers.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import {
  describeAccess,
  expectRefusal,
  expectTokenIsBound,
  idsOf,
  itemsIn,
  type RpcUnderTest,
  walkPages,
} from "./rpc-under-test.js";

const { getCase, listCases, takeCase, closeCase } = DeskService.method;
const NOT_ALLOWED = ["caseId STATE_NOT_ALLOWED"];

let service: TestService;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await startTestService();
  make = deskFixtures(service);
});

afterAll(() => service.close());

const ofCase = (method: RpcUnderTest["method"], scope: string, request: JsonObject = {}): RpcUnderTest => ({
  method,
  scope,
  id: "caseId",
  prepare: async (target) => ({ caseId: await deskFixtures(target).attentionCase(), ...request }),
});

describe("GetCase", () => {
  describeAccess(ofCase(getCase, "desk:read"), () => service);

  test.each(["INFORMATION_REQUEST", "COMPLAINT", "CLAIM", "SUGGESTION", "COMPLIMENT"])(
    "gives every field of a case of category %s as it was recorded",
    async (category) => {
      const recorded = {
        category,
        externalReference: "PQR 2026/17",
        description: "La espera fue larga.\n\tNadie avisó 😕",
        patientId: await make.patient(),
      };
      const id = await make.attentionCase(recorded);
      const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(await get(id)).toEqual({ id, createdAt, status: "RECEIVED", ...recorded });
    },
  );

  test("names the appointment that the case is about, and neither it nor a patient where there is none", async () => {
    const id = await make.attentionCase();
    const members = ["category", "createdAt", "description", "externalReference", "id", "status"];
    expect(Object.keys(await get(id)).toSorted()).toEqual(members);
    const appointmentId = await createAppointment(service, await make.patient());
    await service.query(`UPDATE user_attention_cases SET appointment_id = '${appointmentId}' WHERE id = '${id}'`);
    expect(await get(id)).toMatchObject({ appointmentId });
  });
});

describe("ListCases", () => {
  describeAccess({ method: listCases, scope: "desk:read", prepare: async () => ({ pageSize: 1 }) }, () => service);

  test("walks all cases of the tenant, the oldest first, each once", async () => {
    const { as, ids } = await makeCases(5);
    const pages = await walkPages(service, listCases, "userAttentionCases", { pageSize: 2 }, { as });
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    const answer = await callRpc(service, getCase, { caseId: `${ids[0]}` }, { as });
    expect(pages[0]?.[0]).toEqual(answer.body["userAttentionCase"]);
  });

  test("lists those of a status, a patient, open or closed, and of all of these", async () => {
    const as = { tenantId: randomUUID() };
    const fixtures = deskFixtures(service, as);
    const patientId = await fixtures.patient();
    const [taken, closed, untouched] = [
      await fixtures.attentionCase({ patientId }),
      await fixtures.attentionCase({ patientId }),
      await fixtures.attentionCase(),
    ];
    await take(taken, { as });
    await close(closed, {}, { as });
    const list = async (request: JsonObject) =>
      idsOf(itemsIn(await callRpc(service, listCases, request, { as }), "userAttentionCases"));
    expect(await list({})).toEqual([taken, closed, untouched]);
    expect(await list({ patientId })).toEqual([taken, closed]);
    expect(await list({ status: "OPEN" })).toEqual([taken]);
    expect(await list({ status: "RECEIVED" })).toEqual([closed, untouched]);
    expect(await list({ closed: true })).toEqual([closed]);
    expect(await list({ closed: false })).toEqual([taken, untouched]);
    expect(await list({ patientId, status: "RECEIVED", closed: true })).toEqual([closed]);
    expect(await list({ status: "RECEIVED", closed: false })).toEqual([untouched]);
    expect(await list({ status: "ACTIVE" })).toEqual([]);
  });

  test("refuses a page token for other filters, or one that was altered", async () => {
    const { as } = await makeCases(3);
    for (const other of [{ status: "RECEIVED" }, { patientId: randomUUID() }, { closed: false }]) {
      await expectTokenIsBound(service, listCases, { request: {}, other }, { as });
    }
  });
});

describe("TakeCase", () => {
  describeAccess(ofCase(takeCase, "desk:write"), () => service);

  test("moves a case from RECEIVED to OPEN, changes nothing else, and leaves one audit row", async () => {
    const id = await make.attentionCase();
    const before = await get(id);
    const answer = await take(id);
    expect(answer.body["userAttentionCase"]).toEqual({ ...before, status: "OPEN" });
    expect(await get(id)).toEqual({ ...before, status: "OPEN" });
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "UserAttentionCase", resource_id: id, resource_version: null },
    ]);
  });

  test.each(["OPEN", "ACTIVE"])("is refused for a case that is %s", async (status) => {
    const id = await make.attentionCase();
    await service.query(`UPDATE user_attention_cases SET status = '${status}' WHERE id = '${id}'`);
    expectRefusal(await take(id), 409, NOT_ALLOWED);
    expect(await get(id)).toMatchObject({ status });
  });

  test("is refused for a case that is closed", async () => {
    const id = await make.attentionCase();
    await close(id);
    expectRefusal(await take(id), 409, NOT_ALLOWED);
    expect(await get(id)).toMatchObject({ status: "RECEIVED" });
  });

  test("lets one of several at once have it", async () => {
    const id = await make.attentionCase();
    const answers = await Promise.all(Array.from({ length: 5 }, () => take(id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 409, NOT_ALLOWED);
  });
});

describe("CloseCase", () => {
  describeAccess(ofCase(closeCase, "desk:write", { reason: "Resuelto." }), () => service);

  test.each(["RECEIVED", "OPEN", "ACTIVE"])("closes a case that is %s, whose status it keeps", async (status) => {
    const id = await make.attentionCase();
    await service.query(`UPDATE user_attention_cases SET status = '${status}' WHERE id = '${id}'`);
    const before = await get(id);
    const answer = await close(id, { reason: "Se llamó a la usuaria." }, { as: { client: "front-desk" } });
    const { closedAt, ...closed } = answer.body["userAttentionCase"] as { closedAt: string };
    const closure = { closedBy: expect.stringContaining("front-desk"), closeReason: "Se llamó a la usuaria." };
    expect(closed).toEqual({ ...before, ...closure });
    expect(Math.abs(Date.parse(closedAt) - service.now())).toBeLessThan(60_000);
    expect(await get(id)).toEqual(answer.body["userAttentionCase"]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "UserAttentionCase", resource_id: id },
    ]);
  });

  test("is refused for what is closed already, which stays as it is, also to several at once", async () => {
    const id = await make.attentionCase();
    const answers = await Promise.all(["a", "b", "c"].map((reason) => close(id, { reason })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const before = await get(id);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 409, NOT_ALLOWED);
    expectRefusal(await close(id), 409, NOT_ALLOWED);
    expect(await get(id)).toEqual(before);
  });

  test("needs a reason of 1 to 500 characters", async () => {
    expectRefusal(await callRpc(service, closeCase), 422, ["caseId REQUIRED", "reason REQUIRED"]);
    expectRefusal(await close(await make.attentionCase(), { reason: "x".repeat(501) }), 422, ["reason TOO_LONG"]);
  });
});

test("no description of a case is logged", async () => {
  const description = `Queja ${randomUUID()}`;
  const id = await make.attentionCase({ description });
  await take(id);
  await close(id);
  expect(await get(id)).toMatchObject({ description });
  expect(JSON.stringify(service.log)).not.toContain(description);
});

async function get(id: string): Promise<JsonObject> {
  return (await callRpc(service, getCase, { caseId: id })).body["userAttentionCase"] as JsonObject;
}

function take(id: string, changes?: RpcChanges) {
  return callRpc(service, takeCase, { caseId: id }, changes);
}

function close(id: string, request: JsonObject = {}, changes?: RpcChanges) {
  return callRpc(service, closeCase, { caseId: id, reason: "Resuelto.", ...request }, changes);
}

/** A tenant with so many cases, in the order in which they were made. */
async function makeCases(count: number): Promise<{ as: { tenantId: string }; ids: string[] }> {
  const as = { tenantId: randomUUID() };
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await deskFixtures(service, as).attentionCase());
  return { as, ids };
}

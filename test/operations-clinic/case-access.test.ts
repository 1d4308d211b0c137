import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { createAppointment } from "../contract/fixtures.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { itemsIn } from "./rpc-under-test.js";

const { getCase, listCases, takeCase, closeCase } = DeskService.method;

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("GetCase", () => {
  test("writes one access record for the patient of the case or of its appointment, and no audit row", async () => {
    const { ana, luz, ofAna, ofLuz, ofNobody } = await openDesk();
    const client = randomUUID();
    for (const [userAttentionCaseId, patientId] of [
      [ofAna, ana],
      [ofLuz, luz],
    ] as const) {
      const headers = { "actor-id": "agent-7" };
      const answer = await callRpc(service, getCase, { userAttentionCaseId }, { as: { client }, headers });
      expect(await accessRecords(patientId)).toMatchObject([
        {
          operation: "cupo.clinic.v1.DeskService/GetCase",
          principal: expect.stringContaining(client),
          actor: "agent-7",
          correlation_id: answer.headers.get("x-correlation-id"),
        },
      ]);
      expect(await auditOf(service, answer)).toEqual([]);
    }
    const answer = await callRpc(service, getCase, { userAttentionCaseId: ofNobody });
    expect([answer.status, await recordsOf(answer.headers)]).toEqual([200, []]);
  });

  test("writes none in the caller's tenant if the case belongs to another one", async () => {
    const { ana, ofAna } = await openDesk();
    const as = { tenantId: randomUUID() };
    const answer = await callRpc(service, getCase, { userAttentionCaseId: ofAna }, { as });
    expect([answer.status, await accessRecords(ana)]).toEqual([404, []]);
  });
});

describe("ListCases", () => {
  test("writes one access record for each patient on the page, and for no other", async () => {
    const as = { tenantId: randomUUID() };
    const { ana, luz, make } = await openDesk(as);
    await make.attentionCase({ patientId: ana });
    const later = await make.patient();
    await make.attentionCase({ patientId: later });
    const answer = await callRpc(service, listCases, { pageSize: 4 }, { as });
    expect(itemsIn(answer, "userAttentionCases")).toHaveLength(4);
    expect(new Set(await recordsOf(answer.headers))).toEqual(new Set([ana, luz]));
    for (const id of [ana, luz]) expect(await accessRecords(id)).toHaveLength(1);
    expect(await accessRecords(later)).toEqual([]);
  });
});

describe("a call that changes nothing but returns a case", () => {
  test.each([
    ["TakeCase", takeCase, {}],
    ["CloseCase", closeCase, { reason: "Resuelto." }],
  ] as const)("leaves an access record: a replay of %s", async (name, method, changes) => {
    const { ana, ofAna, luz, ofLuz } = await openDesk();
    for (const [userAttentionCaseId, patientId] of [
      [ofAna, ana],
      [ofLuz, luz],
    ] as const) {
      const request = { userAttentionCaseId, expectedVersion: 1, ...changes };
      const headers = { "idempotency-key": randomUUID() };
      const first = await callRpc(service, method, request, { headers });
      expect([first.status, await accessRecords(patientId)]).toEqual([200, []]);
      const replay = await callRpc(service, method, request, { headers });
      expect(replay.body).toEqual(first.body);
      expect(await accessRecords(patientId)).toMatchObject([{ operation: `cupo.clinic.v1.DeskService/${name}` }]);
    }
  });
});

/** Creates cases about Ana, about an appointment of Luz, and about nobody, in this order. */
async function openDesk(as: { readonly tenantId?: string } = {}) {
  const make = deskFixtures(service, as);
  const [ana, luz] = [await make.patient(), await make.patient()];
  const ofAna = await make.attentionCase({ patientId: ana });
  const ofLuz = await make.attentionCase({ appointmentId: await createAppointment(service, luz, as) });
  return { make, ana, luz, ofAna, ofLuz, ofNobody: await make.attentionCase() };
}

function accessRecords(patientId: string): Promise<Record<string, unknown>[]> {
  return service.query(`SELECT * FROM patient_access_records WHERE patient_id = '${patientId}'`);
}

/** Returns the patients in the access records of a call. */
async function recordsOf(headers: Headers): Promise<unknown[]> {
  const id = headers.get("x-correlation-id");
  const rows = await service.query(`SELECT patient_id FROM patient_access_records WHERE correlation_id = '${id}'`);
  return rows.map((row) => row["patient_id"]);
}

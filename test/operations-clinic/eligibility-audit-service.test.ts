import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CatalogService } from "../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { EligibilityService } from "../../src/gen/cupo/access/v1/eligibility_service_pb.js";
import { EligibilityAuditService } from "../../src/gen/cupo/clinic/v1/eligibility_audit_service_pb.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";

const { getEligibilityDecision } = EligibilityAuditService.method;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("GetEligibilityDecision", () => {
  test("returns a decision unchanged, with the question, the caller and the correlation id", async () => {
    const question = await questionFor(service);
    const decision = await decide(service, question, "billing");
    expect(decision).toMatchObject({ eligible: true, reasons: [] });
    const correlationId = await correlationIdOf(decision);
    expect(await get(decision.decisionId)).toEqual({
      eligibilityDecision: decision,
      ...question,
      principal: expect.stringContaining("billing"),
      correlationId,
    });
  });

  test("keeps the order and texts of the reasons despite later changes, and after it has expired", async () => {
    const question = { ...(await questionFor(service)), serviceDate: "2031-01-01" };
    await service.query(`UPDATE patients SET status = 'INACTIVE' WHERE id = '${question.patientId}'`);
    const decision = await decide(service, question);
    expect(decision).toMatchObject({
      eligible: false,
      reasons: [
        { code: "PATIENT_INACTIVE", field: "patientId" },
        { code: "CONTRACT_EXPIRED", field: "serviceDate" },
      ],
    });
    await service.query(`UPDATE patients SET status = 'DECEASED' WHERE id = '${question.patientId}'`);
    service.advance(48 * 3_600_000);
    expect(await get(decision.decisionId)).toMatchObject({ eligibilityDecision: decision, serviceDate: "2031-01-01" });
  });
});

/** Builds a question that is answered with yes, and creates all resources in it. */
async function questionFor(target: TestService) {
  const make = deskFixtures(target);
  const named = () => ({ code: randomUUID(), name: "Salud Andina", active: true });
  const payer = await callRpc(target, CatalogService.method.createPayer, { ...named(), taxId: "900123456" });
  const { id: payerId } = payer.body["payer"] as { id: string };
  const validity = { validFrom: "2020-01-01", validTo: "2030-12-31" };
  const contract = await callRpc(target, CatalogService.method.createContract, { ...named(), payerId, ...validity });
  return {
    patientId: await make.patient(),
    payerId,
    contractId: (contract.body["contract"] as { id: string }).id,
    serviceId: await make.healthcareService(),
    serviceDate: "2028-02-29",
  };
}

async function decide(target: TestService, question: JsonObject, client = "test"): Promise<{ decisionId: string }> {
  const { body } = await callRpc(target, EligibilityService.method.checkEligibility, question, { as: { client } });
  return body["eligibilityDecision"] as { decisionId: string };
}

async function get(decisionId: string): Promise<JsonObject> {
  return (await callRpc(service, getEligibilityDecision, { decisionId })).body["eligibilityRecord"] as JsonObject;
}

async function correlationIdOf({ decisionId }: { readonly decisionId: string }): Promise<unknown> {
  const rows = await service.query(`SELECT correlation_id FROM audit_events WHERE resource_id = '${decisionId}'`);
  return rows[0]?.["correlation_id"];
}

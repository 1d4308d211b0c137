import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationName } from "../../src/operation.js";
import { auditOf } from "../support/audit.js";
import { registerPatient } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { expectHidden, summary, withoutScope } from "./resource-answers.js";
import { contract, createResource, healthcareService, payer, readResource, rpcNamed } from "./resources-under-test.js";

const replaceMethod = rpcNamed("ReplaceCoveredServices");
const getMethod = rpcNamed("GetCoveredServices");

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("ReplaceCoveredServices", () => {
  test("returns the list in ascending order and increments the version of the contract", async () => {
    const { contractId, created } = await createContract();
    const ids = await createServices(3);
    service.advance(1_000);
    const serviceIds = ids.toReversed().map((id) => id.toUpperCase());
    const { body } = await replace({ contractId: contractId.toUpperCase(), serviceIds, expectedVersion: 1 });
    expect(body).toEqual({ coveredServices: { contractId, serviceIds: ids.toSorted(), version: 2 } });
    expect((await get({ contractId })).body).toEqual(body);
    const after = await readResource(service, contract, created);
    expect(after).toEqual({ ...created, version: 2, updatedAt: after.updatedAt });
    expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(created.updatedAt));
  });

  test("replaces the whole list, even by an empty one, and increments the version even for an equal list", async () => {
    const { contractId } = await createContract();
    const [a, b, c] = (await createServices(3)).toSorted();
    const lists = [[a, b], [b, c], [b, c], [], []];
    for (const [i, list] of lists.entries()) {
      const serviceIds = list.map(String);
      const { body } = await replace({ contractId, serviceIds, expectedVersion: i + 1 });
      expect(body).toEqual({ coveredServices: { contractId, serviceIds, version: i + 2 } });
      expect((await get({ contractId })).body).toEqual(body);
    }
  });

  test("changes no other contract", async () => {
    const [one, other] = await Promise.all([createContract(), createContract()]);
    const serviceIds = (await createServices(2)).toSorted();
    await replace({ contractId: one.contractId, serviceIds, expectedVersion: 1 });
    await replace({ contractId: other.contractId, serviceIds: [], expectedVersion: 1 });
    expect((await get({ contractId: one.contractId })).body).toMatchObject({ coveredServices: { serviceIds } });
  });

  test("accepts 500 services", async () => {
    const { contractId } = await createContract();
    await service.query(
      `INSERT INTO healthcare_services (tenant_id, id, code, name, active, version, created_at, updated_at)
       SELECT '${service.tenantId}', gen_random_uuid(), 'bulk ' || n, 'Bulk', true, 1, now(), now()
       FROM generate_series(1, 500) AS n`,
    );
    const rows = await service.query("SELECT id FROM healthcare_services WHERE code LIKE 'bulk %' ORDER BY id");
    const serviceIds = rows.map(({ id }) => String(id));
    const { body } = await replace({ contractId, serviceIds, expectedVersion: 1 });
    expect(body).toEqual({ coveredServices: { contractId, serviceIds, version: 2 } });
    const tooMany = await replace({ contractId, serviceIds: [...serviceIds, randomUUID()], expectedVersion: 2 });
    expect(summary(tooMany)).toBe("422 serviceIds TOO_MANY");
  });

  test("decides eligibility from then on", async () => {
    const { id: payerId } = await createResource(service, payer);
    const { id: contractId } = await createResource(service, contract, { payerId });
    const { id: patientId } = await registerPatient(service);
    const [covered = "", uncovered = ""] = await createServices(2);
    const reasons = async (serviceId: string) => {
      const question = { patientId, payerId, contractId, serviceId, serviceDate: "2026-06-01" };
      const { body } = await service.request("POST", "/eligibility-checks", { body: question });
      return (body["reasons"] as { code: string }[]).map(({ code }) => code);
    };
    expect(await reasons(uncovered)).toEqual([]);
    await replace({ contractId, serviceIds: [covered], expectedVersion: 1 });
    expect([await reasons(covered), await reasons(uncovered)]).toEqual([[], ["SERVICE_NOT_COVERED"]]);
    await replace({ contractId, serviceIds: [], expectedVersion: 2 });
    expect(await reasons(uncovered)).toEqual([]);
  });

  test("writes one audit row", async () => {
    const { contractId } = await createContract();
    const answer = await replace({ contractId, serviceIds: await createServices(1), expectedVersion: 1 });
    const row = { action: "UPDATE", resource_type: "CoveredServices", resource_id: contractId, resource_version: 2 };
    expect(await auditOf(service, answer)).toEqual([
      expect.objectContaining({ ...row, operation: operationName(replaceMethod) }),
    ]);
  });

  test("shares its version with updates of the contract, and one of two concurrent changes succeeds", async () => {
    const { contractId } = await createContract();
    const serviceIds = (await createServices(1)).toSorted();
    const both = await Promise.all([
      replace({ contractId, serviceIds, expectedVersion: 1 }),
      callRpc(service, rpcNamed("UpdateContract"), { contractId, name: "Otro", expectedVersion: 1 }),
    ]);
    expect(both.map(summary).toSorted()).toEqual(["200", "409 expectedVersion STALE_VERSION"]);
    const before = await get({ contractId });
    expect(summary(await replace({ contractId, expectedVersion: 1 }))).toBe("409 expectedVersion STALE_VERSION");
    expect((await get({ contractId })).text).toBe(before.text);
  });

  test("lists each service that the token cannot access, before it checks the version", async () => {
    const as = { organizationId: randomUUID() };
    const { contractId } = await createContract(as);
    const hidden = [{ tenantId: randomUUID() }, { organizationId: randomUUID() }, { ...as, companyId: randomUUID() }];
    const [own] = await createServices(1, as);
    const [shared] = await createServices(1);
    const others = await Promise.all(hidden.map((owner) => createServices(1, owner)));
    const serviceIds = [String(own), ...others.flat(), String(shared), randomUUID()];
    const answer = await replace({ contractId, serviceIds, expectedVersion: 7 }, { as });
    expect(summary(answer)).toBe(`404 ${[1, 2, 3, 5].map((i) => `serviceIds[${i}] NOT_FOUND`).join(" ")}`);
    expect(summary(await replace({ contractId: randomUUID(), serviceIds, expectedVersion: 7 }, { as }))).toBe("404");
    expect((await get({ contractId }, { as })).body).toMatchObject({ coveredServices: { serviceIds: [], version: 1 } });
  });

  test("returns the same answer for a hidden contract and an unknown one", async () => {
    await expectHidden(service, contract, (contractId, changes) =>
      replace({ contractId, expectedVersion: 1 }, changes),
    );
  });

  test("rejects a service that is listed twice, in any letter case, and invalid UUIDs", async () => {
    const { contractId } = await createContract();
    const [id = ""] = await createServices(1);
    const twice = await replace({ contractId, serviceIds: [id, id.toUpperCase()], expectedVersion: 1 });
    expect(summary(twice)).toBe("422 serviceIds[1] DUPLICATE");
    const noUuid = await replace({ contractId, serviceIds: [id, "42"], expectedVersion: 1 });
    expect(summary(noUuid)).toBe("422 serviceIds[1] INVALID_UUID");
  });

  test("requires its scope", async () => {
    const answer = await replace({ contractId: randomUUID() }, { as: withoutScope(service, replaceMethod) });
    expect(summary(answer)).toBe("403");
  });
});

describe("GetCoveredServices", () => {
  test("returns an empty list at the contract's version if none was ever set, and writes nothing", async () => {
    const { contractId } = await createContract();
    await callRpc(service, rpcNamed("UpdateContract"), { contractId, name: "Otro", expectedVersion: 1 });
    const answer = await get({ contractId }, { headers: { "idempotency-key": "" } });
    expect(answer.body).toEqual({ coveredServices: { contractId, serviceIds: [], version: 2 } });
    expect(await auditOf(service, answer)).toEqual([]);
  });

  test("returns the same answer for a hidden contract and an unknown one", async () => {
    await expectHidden(service, contract, (contractId, changes) => get({ contractId }, changes));
  });

  test("rejects an invalid UUID, and a call without its scope", async () => {
    expect(summary(await get({ contractId: "42" }))).toBe("422 contractId INVALID_UUID");
    expect(summary(await get({ contractId: randomUUID() }, { as: withoutScope(service, getMethod) }))).toBe("403");
  });
});

function replace(request: JsonObject, changes?: RpcChanges) {
  return callRpc(service, replaceMethod, request, changes);
}

function get(request: JsonObject, changes?: RpcChanges) {
  return callRpc(service, getMethod, request, changes);
}

async function createContract(as?: TokenFor) {
  const created = await createResource(service, contract, {}, as);
  return { created, contractId: created.id };
}

async function createServices(count: number, as?: TokenFor): Promise<string[]> {
  const created = Array.from({ length: count }, () => createResource(service, healthcareService, {}, as));
  return (await Promise.all(created)).map(({ id }) => id);
}

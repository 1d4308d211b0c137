import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { byId, describeList } from "./list-answers.js";
import { describeCreate, describeGet, describeUpdate, summary } from "./resource-answers.js";
import {
  appointmentType,
  cancellationReason,
  consultationType,
  contract,
  createResource,
  noShowReason,
  payer,
  readResource,
  requestSource,
  resourceIn,
  rpcNamed,
  withId,
} from "./resources-under-test.js";
import { expectTokenIsBound, walkPages } from "./rpc-under-test.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

for (const resource of [consultationType, noShowReason]) describeCreate(resource, () => service);
for (const resource of [payer, contract]) describeUpdate(resource, () => service);
for (const resource of [
  appointmentType,
  consultationType,
  cancellationReason,
  noShowReason,
  requestSource,
  payer,
  contract,
]) {
  describeGet(resource, () => service);
  describeList(resource, () => service);
}

describe("UpdateContract", () => {
  const update = (request: JsonObject, changes?: RpcChanges) =>
    callRpc(service, rpcNamed("UpdateContract"), { expectedVersion: 1, ...request }, changes);

  test.each([
    ["begins after it ends", { validFrom: "2027-01-01" }],
    ["ends before it begins", { validTo: "2025-12-31" }],
    ["is sent with both dates reversed", { validFrom: "2026-03-02", validTo: "2026-03-01" }],
  ])("rejects a change after which the contract %s", async (_, changes) => {
    const created = await createResource(service, contract);
    const answer = await update({ contractId: created.id, ...changes });
    expect(summary(answer)).toBe("422 validTo INVALID_RANGE");
    expect(await auditOf(service, answer)).toEqual([]);
    expect(resourceIn(contract, await update({ contractId: created.id }))).toEqual(created);
  });

  test("accepts a contract of one day", async () => {
    const { id: contractId } = await createResource(service, contract);
    const answer = await update({ contractId, validFrom: "2026-12-31" });
    expect(answer.body).toMatchObject({ contract: { validFrom: "2026-12-31", validTo: "2026-12-31", version: 2 } });
  });

  test("rejects a payer that the token cannot access like an unknown one", async () => {
    const organizationId = randomUUID();
    const created = await createResource(service, contract, {}, { organizationId });
    const changes = { as: { organizationId }, headers: { "x-correlation-id": randomUUID() } };
    const absent = await update({ contractId: created.id, payerId: randomUUID() }, changes);
    expect(summary(absent)).toBe("404 payerId NOT_FOUND");
    for (const owner of [{ tenantId: randomUUID() }, { organizationId: randomUUID() }, { companyId: randomUUID() }]) {
      const hidden = await createResource(service, payer, {}, owner);
      expect((await update({ contractId: created.id, payerId: hidden.id }, changes)).text).toBe(absent.text);
    }
    const shared = await createResource(service, payer);
    expect(summary(await update({ contractId: created.id, payerId: shared.id }, changes))).toBe("200");
  });

  test("checks the contract, then the payer, then the version, then the dates", async () => {
    const { id: contractId } = await createResource(service, contract);
    const faults = { payerId: randomUUID(), expectedVersion: 2, validTo: "2025-12-31" };
    expect(summary(await update({ ...faults, contractId: randomUUID() }))).toBe("404");
    expect(summary(await update({ ...faults, contractId }))).toBe("404 payerId NOT_FOUND");
    const { payerId: _, ...others } = faults;
    expect(summary(await update({ ...others, contractId }))).toBe("409 expectedVersion STALE_VERSION");
    expect(summary(await update({ ...others, contractId, expectedVersion: 1 }))).toBe("422 validTo INVALID_RANGE");
  });
});

describe("ListContracts", () => {
  test("returns only contracts of the payer, on every page, and rejects a page token of another payer", async () => {
    const as = { tenantId: randomUUID() };
    const [one, another] = await Promise.all([
      createResource(service, payer, {}, as),
      createResource(service, payer, {}, as),
    ]);
    const add = (payerId: string, attributes?: JsonObject) =>
      createResource(service, contract, { payerId, ...attributes }, as);
    const ofOne = await Promise.all([add(one.id), add(one.id, { active: false }), add(one.id)]);
    const ofAnother = await add(another.id);
    const method = rpcNamed("ListContracts");
    const walk = async (request: JsonObject) =>
      (await walkPages(service, method, "contracts", { pageSize: 2, ...request }, { as })).flat().map(withId);
    expect(await walk({ payerId: one.id.toUpperCase() })).toEqual(ofOne.toSorted(byId));
    expect(await walk({ payerId: one.id, active: false })).toEqual([ofOne[1]]);
    expect(await walk({ payerId: one.id, code: ofAnother.code })).toEqual([]);
    expect(await walk({ payerId: another.id })).toEqual([ofAnother]);
    expect(await walk({ payerId: randomUUID() })).toEqual([]);
    const filters = { request: { payerId: one.id }, other: { payerId: another.id } };
    await expectTokenIsBound(service, method, filters, { as });
  });
});

describe("CreateConsultationType", () => {
  test("distinguishes an empty description from none", async () => {
    const created = await createResource(service, consultationType, { description: "" });
    expect(created).toMatchObject({ description: "" });
    expect(await readResource(service, consultationType, created)).toEqual(created);
  });
});

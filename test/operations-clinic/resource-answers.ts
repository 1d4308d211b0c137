import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { operationName, operationOf } from "../../src/operation.js";
import { auditOf } from "../support/audit.js";
import { itemsOf, messagesOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import {
  attributesOf,
  idNameOf,
  memberNamed,
  provideResource,
  type ResourceUnderTest,
  readResource,
  resourceIn,
  rpcNamed,
} from "./resources-under-test.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Describes how resources of a type are created. `serviceOf` is called within tests. */
export function describeCreate(resource: ResourceUnderTest, serviceOf: () => TestService): void {
  const method = rpcNamed(`Create${resource.type}`);
  const create = (attributes: JsonObject, changes?: RpcChanges) => callRpc(serviceOf(), method, attributes, changes);

  describe(method.name, () => {
    test("returns the new resource as a read does, at version 1", async () => {
      const attributes = await attributesOf(serviceOf(), resource);
      const created = resourceIn(resource, await create(attributes));
      const { id, createdAt, updatedAt } = created;
      expect(created).toEqual({ ...attributes, id, version: 1, createdAt, updatedAt });
      expect(id).toMatch(UUID);
      expect(updatedAt).toBe(createdAt);
      expect(Math.abs(Date.parse(createdAt) - serviceOf().now())).toBeLessThan(60_000);
      expect(await readResource(serviceOf(), resource, created)).toEqual(created);
    });

    for (const name of resource.optional ?? []) {
      test(`stores nothing for an omitted ${name}`, async () => {
        const { [name]: _, ...attributes } = await attributesOf(serviceOf(), resource);
        const created = resourceIn(resource, await create(attributes));
        expect(created).not.toHaveProperty(name);
        expect(await readResource(serviceOf(), resource, created)).toEqual(created);
      });
    }

    test("creates one resource and one audit row, however often it is sent with one key", async () => {
      const attributes = await attributesOf(serviceOf(), resource);
      const headers = { "idempotency-key": randomUUID() };
      const first = await create(attributes, { headers });
      const again = await create(attributes, { headers });
      expect([again.status, again.text]).toEqual([200, first.text]);
      const { id } = resourceIn(resource, first);
      const row = { action: "CREATE", resource_type: resource.type, resource_id: id, resource_version: 1 };
      expect(await auditOf(serviceOf(), first)).toEqual([
        expect.objectContaining({ ...row, operation: operationName(method), tenant_id: serviceOf().tenantId }),
      ]);
      expect(await auditOf(serviceOf(), again)).toEqual([]);
    });

    test("rejects an existing code, also of concurrent calls, but not in another letter case or organization", async () => {
      const attributes = await attributesOf(serviceOf(), resource);
      const both = await Promise.all([create(attributes), create(attributes)]);
      expect(both.map(summary).toSorted()).toEqual(["200", "409 code DUPLICATE"]);
      expect(summary(await create(attributes))).toBe("409 code DUPLICATE");
      expect(summary(await create({ ...attributes, code: attributes.code.toUpperCase() }))).toBe("200");
      const as = { organizationId: randomUUID() };
      expect(summary(await create(attributes, { as }))).toBe("200");
      expect(summary(await create(attributes, { as }))).toBe("409 code DUPLICATE");
      expect(summary(await create(attributes, { as: { ...as, companyId: randomUUID() } }))).toBe("200");
    });

    test("lists each missing attribute", async () => {
      const attributes = Object.keys(await attributesOf(serviceOf(), resource));
      const required = attributes.filter((name) => !resource.optional?.includes(name));
      const answer = await create({});
      expect(answer.status).toBe(422);
      expect(itemsOf(answer).toSorted()).toEqual(required.map((name) => `${name} REQUIRED`).toSorted());
    });

    test("requires its scope", async () => {
      const attributes = await attributesOf(serviceOf(), resource);
      expect(summary(await create(attributes, { as: withoutScope(serviceOf(), method) }))).toBe("403");
    });
  });
}

/** Describes how resources of a type are updated. `serviceOf` is called within tests. */
export function describeUpdate(resource: ResourceUnderTest, serviceOf: () => TestService): void {
  const method = rpcNamed(`Update${resource.type}`);
  const update = ({ id, ...request }: JsonObject, changes?: RpcChanges) =>
    callRpc(
      serviceOf(),
      method,
      { ...(id === undefined ? {} : { [idNameOf(method.input)]: id }), ...request },
      changes,
    );

  describe(method.name, () => {
    test("returns the resource with the sent attributes changed, one version on", async () => {
      const before = await provideResource(serviceOf(), resource);
      serviceOf().advance(1_000);
      const changes = { ...(await attributesOf(serviceOf(), resource)), ...resource.changes };
      const answer = await update({ id: before.id.toUpperCase(), expectedVersion: 1, ...changes });
      const updated = resourceIn(resource, answer);
      expect(updated).toEqual({ ...before, ...changes, version: 2, updatedAt: updated.updatedAt });
      expect(Date.parse(updated.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt) + 1_000);
      expect(await readResource(serviceOf(), resource, before)).toEqual(updated);
    });

    test.each(Object.entries(resource.changes))("changes only %s if the mask says so", async (name, value) => {
      const before = await provideResource(serviceOf(), resource);
      const answer = await update({ id: before.id, expectedVersion: 1, ...resource.changes, updateMask: name });
      const updated = resourceIn(resource, answer);
      expect(updated).toEqual({ ...before, [name]: value, version: 2, updatedAt: updated.updatedAt });
    });

    for (const name of resource.removable ?? []) {
      test(`removes ${name} only if the mask names it and the request omits it`, async () => {
        const before = await provideResource(serviceOf(), resource);
        expect(before).toHaveProperty(name);
        expect(resourceIn(resource, await update({ id: before.id, expectedVersion: 1 }))).toEqual(before);
        const answer = await update({ id: before.id, expectedVersion: 1, updateMask: name });
        const removed = resourceIn(resource, answer);
        expect(removed).not.toHaveProperty(name);
        expect({ ...before, ...removed }).toEqual({ ...before, version: 2, updatedAt: removed.updatedAt });
        expect(await readResource(serviceOf(), resource, before)).toEqual(removed);
      });
    }

    test("increments the version even for equal values, but not if no attribute is sent", async () => {
      const before = await provideResource(serviceOf(), resource);
      const { id, code } = before;
      const unchanged = await update({ id, expectedVersion: 1 });
      expect(resourceIn(resource, unchanged)).toEqual(before);
      expect(await auditOf(serviceOf(), unchanged)).toEqual([]);
      expect(resourceIn(resource, await update({ id, code, expectedVersion: 1 }))).toMatchObject({ code, version: 2 });
    });

    test("writes one audit row", async () => {
      const { id } = await provideResource(serviceOf(), resource);
      const answer = await update({ id, expectedVersion: 1, active: false });
      const row = { action: "UPDATE", resource_type: resource.type, resource_id: id, resource_version: 2 };
      expect(await auditOf(serviceOf(), answer)).toEqual([
        expect.objectContaining({ ...row, operation: operationName(method) }),
      ]);
    });

    test("rejects another version, names the current one, and lets one of two concurrent updates succeed", async () => {
      const { id } = await provideResource(serviceOf(), resource);
      const request = { id, expectedVersion: 1, active: false };
      const both = await Promise.all([update(request), update(request)]);
      expect(both.map(summary).toSorted()).toEqual(["200", "409 expectedVersion STALE_VERSION"]);
      const before = await readResource(serviceOf(), resource, { id });
      const stale = await update({ id, expectedVersion: 1 });
      expect(summary(stale)).toBe("409 expectedVersion STALE_VERSION");
      expect(messagesOf(stale).join()).toMatch(/\b2\b/);
      expect(await readResource(serviceOf(), resource, { id })).toEqual(before);
    });

    test("rejects an existing code, but only after the version", async () => {
      const { code } = await provideResource(serviceOf(), resource);
      const { id } = await provideResource(serviceOf(), resource);
      expect(summary(await update({ id, code, expectedVersion: 2 }))).toBe("409 expectedVersion STALE_VERSION");
      expect(summary(await update({ id, code, expectedVersion: 1 }))).toBe("409 code DUPLICATE");
    });

    test("rejects a mask with other fields, and with a required field that has no value", async () => {
      const { id } = await provideResource(serviceOf(), resource);
      const unknown = await update({ id, expectedVersion: 1, updateMask: "version" });
      expect(summary(unknown)).toBe("422 updateMask INVALID_VALUE");
      expect(summary(await update({ id, expectedVersion: 1, updateMask: "code" }))).toBe("422 code REQUIRED");
    });

    test("returns the same answer for a hidden resource and an unknown one", async () => {
      await expectHidden(serviceOf(), resource, (id, changes) => update({ id, expectedVersion: 1 }, changes));
    });

    test("requires its scope", async () => {
      const { id } = await provideResource(serviceOf(), resource);
      const as = withoutScope(serviceOf(), method);
      expect(summary(await update({ id, expectedVersion: 1 }, { as }))).toBe("403");
    });
  });
}

/** Describes how a resource of a type is read. `serviceOf` is called within tests. */
export function describeGet(resource: ResourceUnderTest, serviceOf: () => TestService): void {
  const method = rpcNamed(`Get${resource.type}`);
  const idName = idNameOf(method.input);
  const get = ({ id }: JsonObject, changes?: RpcChanges) =>
    callRpc(serviceOf(), method, id === undefined ? {} : { [idName]: id }, changes);

  describe(method.name, () => {
    test("returns the resource, in any letter case of its id, without an idempotency key, and writes nothing", async () => {
      const created = await provideResource(serviceOf(), resource);
      const answer = await get({ id: created.id.toUpperCase() }, { headers: { "idempotency-key": "" } });
      expect(Object.keys(answer.body)).toEqual([memberNamed(resource.type)]);
      expect(resourceIn(resource, answer)).toEqual(created);
      expect(answer.body).toMatchObject({ [memberNamed(resource.type)]: { [idName]: created.id } });
      expect(await auditOf(serviceOf(), answer)).toEqual([]);
    });

    test("returns the same answer for a hidden resource and an unknown one", async () => {
      await expectHidden(serviceOf(), resource, (id, changes) => get({ id }, changes));
    });

    test("rejects an invalid UUID, and a call without its scope", async () => {
      expect(summary(await get({ id: "42" }))).toBe(`422 ${idName} INVALID_UUID`);
      expect(summary(await get({}))).toBe(`422 ${idName} REQUIRED`);
      expect(summary(await get({ id: randomUUID() }, { as: withoutScope(serviceOf(), method) }))).toBe("403");
    });
  });
}

/** Summarizes an answer on one line: its status and items. */
export function summary(answer: RestAnswer): string {
  return [answer.status, ...itemsOf(answer)].join(" ");
}

/** Returns the claims of a token that has every scope but the operation's. */
export function withoutScope({ scopes }: TestService, method: Parameters<typeof operationOf>[0]) {
  return { scopes: scopes.filter((scope) => scope !== operationOf(method).scope) };
}

/** Requires the same answer for resources of another tenant, organization or company as for unknown ones. */
export async function expectHidden(
  service: TestService,
  resource: ResourceUnderTest,
  call: (id: string, changes: RpcChanges) => Promise<RestAnswer>,
): Promise<void> {
  const headers = { "x-correlation-id": randomUUID() };
  const as = { organizationId: randomUUID(), companyId: randomUUID() };
  const absent = await call(randomUUID(), { as, headers });
  expect(summary(absent)).toBe("404");
  const owners = [{ ...as, tenantId: randomUUID() }, { organizationId: randomUUID() }, { companyId: randomUUID() }];
  for (const owner of owners) {
    const { id } = await provideResource(service, resource, {}, owner);
    expect((await call(id, { as, headers })).text).toBe(absent.text);
    expect((await call(id, { as: owner })).status).toBe(200);
  }
}

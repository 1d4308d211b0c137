import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SchedulingConfigurationService } from "../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { deskFixtures } from "./desk-fixtures.js";
import { createResource, opportunityDefinition } from "./resources-under-test.js";
import { expectRefusal } from "./rpc-under-test.js";

const { createHoliday } = SchedulingConfigurationService.method;
const { updateOpportunityDefinition } = ReferenceDataService.method;
/** A Thursday, at noon in Bogotá. */
const THURSDAY = Date.parse("2026-03-05T17:00:00Z");

let service: TestService;
let as: TokenFor;

beforeAll(async () => {
  service = await startTestService();
  service.stopAt(THURSDAY);
});

afterAll(() => service.close());

test("a case is due within the definition of its category, in business days without weekends and holidays", async () => {
  newTenant();
  await callRpc(service, createHoliday, { date: "2026-03-09", name: "Fiesta", active: true }, { as });
  await define({ caseCategory: "COMPLAINT", maxWaitDays: 3 });
  expect(await dueOnOf({ category: "COMPLAINT" })).toBe("2026-03-11");
  expect(await dueOnOf({ category: "CLAIM" })).toBeUndefined();
});

test("a holiday that is not active does not move the date of a case", async () => {
  newTenant();
  await callRpc(service, createHoliday, { date: "2026-03-09", name: "Fiesta", active: false }, { as });
  await define({ caseCategory: "COMPLAINT", maxWaitDays: 3 });
  expect(await dueOnOf({ category: "COMPLAINT" })).toBe("2026-03-10");
});

test("a case keeps the date that its category had when it was recorded", async () => {
  newTenant();
  const { id } = await define({ caseCategory: "CLAIM", dayKind: "CALENDAR", maxWaitDays: 15 });
  const caseId = await deskFixtures(service, as).attentionCase({ category: "CLAIM" });
  await update(id, 1, { maxWaitDays: 30 });
  expect(await shown(caseId)).toBe("2026-03-20");
  expect(await dueOnOf({ category: "CLAIM" })).toBe("2026-04-04");
  await update(id, 2, { active: false });
  expect(await dueOnOf({ category: "CLAIM" })).toBeUndefined();
});

test("the definition of the caller's company comes before those of its organization and its tenant", async () => {
  newTenant();
  const [organizationId, companyId] = [randomUUID(), randomUUID()];
  const owners = [{}, { organizationId }, { organizationId, companyId }];
  for (const [index, owner] of owners.entries()) {
    await define({ caseCategory: "COMPLAINT", dayKind: "CALENDAR", maxWaitDays: index + 1 }, { ...as, ...owner });
  }
  const callers = [...owners, { organizationId: randomUUID() }, { organizationId, companyId: randomUUID() }];
  const seen = await Promise.all(callers.map((owner) => dueOnOf({ category: "COMPLAINT" }, { ...as, ...owner })));
  expect(seen).toEqual(["2026-03-06", "2026-03-07", "2026-03-08", "2026-03-06", "2026-03-07"]);
});

test("a second active definition of a category is a conflict, also if it becomes active", async () => {
  newTenant();
  const { id } = await define({ caseCategory: "SUGGESTION" });
  const second = await define({ caseCategory: "SUGGESTION", active: false });
  const duplicate = ["caseCategory DUPLICATE"];
  expectRefusal(await tryUpdate(second.id, 1, { active: true }), 409, duplicate);
  const another = await define({ caseCategory: "COMPLIMENT" });
  expectRefusal(await tryUpdate(another.id, 1, { caseCategory: "SUGGESTION" }), 409, duplicate);
  await update(id, 1, { updateMask: "caseCategory" });
  await update(second.id, 1, { active: true });
  expect(await dueOnOf({ category: "SUGGESTION" })).toBe("2026-03-10");
});

test("a definition needs a category that is known", async () => {
  newTenant();
  const { id } = await define({});
  const answer = await tryUpdate(id, 1, { caseCategory: "CATEGORY_UNSPECIFIED" });
  expectRefusal(answer, 422, ["caseCategory INVALID_VALUE"]);
});

function newTenant(): void {
  as = { tenantId: randomUUID() };
}

function define(attributes: JsonObject, owner = as) {
  return createResource(service, opportunityDefinition, attributes, owner);
}

async function update(id: string, expectedVersion: number, changes: JsonObject): Promise<void> {
  const { status, text } = await tryUpdate(id, expectedVersion, changes);
  expect([status, text]).toEqual([200, text]);
}

function tryUpdate(opportunityDefinitionId: string, expectedVersion: number, changes: JsonObject) {
  const request = { opportunityDefinitionId, expectedVersion, ...changes };
  return callRpc(service, updateOpportunityDefinition, request, { as });
}

/** Records a case and returns its due date. */
async function dueOnOf(attributes: JsonObject, caller = as): Promise<unknown> {
  return shown(await deskFixtures(service, caller).attentionCase(attributes), caller);
}

async function shown(userAttentionCaseId: string, caller = as): Promise<unknown> {
  const { body } = await callRpc(service, DeskService.method.getCase, { userAttentionCaseId }, { as: caller });
  return (body["userAttentionCase"] as JsonObject)["dueOn"];
}

import { afterAll, beforeAll } from "vitest";
import { startTestService, type TestService } from "../support/service.js";
import { describeList } from "./list-answers.js";
import { describeCreate, describeGet, describeUpdate } from "./resource-answers.js";
import { healthcareService, location, opportunityDefinition, practitioner } from "./resources-under-test.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

for (const resource of [location, healthcareService, practitioner, opportunityDefinition]) {
  describeCreate(resource, () => service);
  describeUpdate(resource, () => service);
  describeGet(resource, () => service);
  describeList(resource, () => service);
}

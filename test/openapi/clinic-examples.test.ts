import { afterAll, beforeAll, expect, test } from "vitest";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { isPublished, operationOf } from "../../src/operation.js";
import type { TestService } from "../support/service.js";
import { type ExampleCalls, exampleCalls, methodOf, startDemoService } from "./example-calls.js";

let service: TestService;
let examples: ExampleCalls;

beforeAll(async () => {
  service = await startDemoService({ PUBLIC_CLINIC_API: "all" });
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

afterAll(() => service.close());

test.each(Object.keys(requestExamples(0)).filter((name) => !isPublished(methodOf(name).parent)))(
  "the unmodified example of %s succeeds over REST in the demo tenant",
  async (name) => {
    const { status, text } = await examples.callOverRest(name);
    expect([status, text]).toEqual([operationOf(methodOf(name)).successStatus, text]);
  },
);

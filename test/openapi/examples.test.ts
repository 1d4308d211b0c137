import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { isPublished, operationOf } from "../../src/operation.js";
import type { TestService } from "../support/service.js";
import { type ExampleCalls, exampleCalls, methodOf, startDemoService, unaryMethods } from "./example-calls.js";

let service: TestService;
let examples: ExampleCalls;

beforeAll(async () => {
  service = await startDemoService();
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

afterAll(() => service.close());

describe("the unmodified example of a published operation succeeds over REST in the demo tenant:", () => {
  const published = [...unaryMethods.values()].filter((method) => isPublished(method.parent));

  test.each(published.map((method) => ({ name: method.name, method })))("$name", async ({ name, method }) => {
    const answer = await examples.callOverRest(name);
    expect([answer.status, answer.text]).toEqual([operationOf(method).successStatus, answer.text]);
  });
});

describe("the unmodified example of an internal operation succeeds over Connect in the demo tenant:", () => {
  const internal = Object.keys(requestExamples(0)).filter((name) => !isPublished(methodOf(name).parent));

  test.each(internal)("%s", async (name) => {
    const { status, text } = await examples.call(name);
    expect([status, text]).toEqual([200, text]);
  });
});

test("each operation has an example, and each example an operation", () => {
  const named = Object.keys(requestExamples(0)).map((name) => name.split(" ")[0] ?? "");
  expect([...new Set(named)].toSorted()).toEqual([...unaryMethods.keys()].toSorted());
});

test("docs/reference/demo-ids.md lists the ids in the examples for the demo tenant", () => {
  const text =
    readFileSync(new URL("../../docs/reference/demo-ids.md", import.meta.url), "utf8").split("## Consultorios")[0] ??
    "";
  const ids = Object.values(demo).flatMap((kind) => Object.values(kind));
  expect(ids.filter((id) => !text.includes(id))).toEqual([]);
});

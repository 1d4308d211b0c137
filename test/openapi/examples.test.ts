import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { operationOf, pathFields } from "../../src/operation.js";
import { httpBindings } from "../../src/rest/routes/http-rule.js";
import { sendRequest } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import { type ExampleCalls, exampleCalls, startDemoService, unaryMethods } from "./example-calls.js";

let service: TestService;
let examples: ExampleCalls;

beforeAll(async () => {
  service = await startDemoService();
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

afterAll(() => service.close());

describe("the example of a published operation succeeds over REST in the demo tenant as it stands:", () => {
  const published = [...unaryMethods.values()].filter((method) => httpBindings(method).length > 0);

  test.each(published.map((method) => ({ name: method.name, method })))("$name", async ({ name, method }) => {
    const request = await examples.request(name);
    const [binding] = httpBindings(method);
    const inPath = new Set(
      method.input.fields.filter((field) => pathFields(method).has(field.name)).map((field) => field.jsonName),
    );
    const names = [...inPath];
    const path = binding?.template.replace(/\{\w+\}/g, () => textOf(request[names.shift() ?? ""]));
    const body = Object.fromEntries(Object.entries(request).filter(([member]) => !inPath.has(member)));
    const answer = await sendRequest(binding?.httpMethod ?? "", `${service.baseUrl}${path}`, {
      token: await examples.token(),
      body,
    });
    expect([answer.status, answer.text]).toEqual([operationOf(method).successStatus, answer.text]);
  });
});

describe("the example of an internal operation succeeds over Connect in the demo tenant as it stands:", () => {
  const internal = Object.keys(requestExamples(0)).filter((name) => {
    const method = unaryMethods.get(name.split(" ")[0] ?? "");
    return method !== undefined && httpBindings(method).length === 0;
  });

  test.each(internal)("%s", async (name) => {
    const { status, text } = await examples.call(name);
    expect([status, text]).toEqual([200, text]);
  });
});

test("every operation has an example, and every example an operation", () => {
  const named = Object.keys(requestExamples(0)).map((name) => name.split(" ")[0] ?? "");
  expect([...new Set(named)].toSorted()).toEqual([...unaryMethods.keys()].toSorted());
});

test("the ids of the examples are those that docs/demo.md lists for the demo tenant", () => {
  const text = readFileSync(new URL("../../docs/demo.md", import.meta.url), "utf8").split("## Consultorios")[0] ?? "";
  const ids = Object.values(demo).flatMap((kind) => Object.values(kind));
  expect(ids.filter((id) => !text.includes(id))).toEqual([]);
});

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

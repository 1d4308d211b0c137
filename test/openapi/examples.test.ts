import { readFileSync } from "node:fs";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withDocumentedIds } from "../../src/demo/documented-ids.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import type { RequestExample, RequestExamples } from "../../src/openapi/examples/request-example.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { operationOf, pathFields } from "../../src/operation.js";
import { httpBindings } from "../../src/rest/routes/http-rule.js";
import { servedServices } from "../../src/services/services.js";
import { type RestAnswer, sendRequest } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

/** How long a patient is waited for before the demo takes them for not coming. */
const GRACE_MS = 16 * 60_000;
/** What lies between two patients who walk in: an appointment begins at the moment of its request, and takes 20 minutes. */
const PAUSE_MS = 30 * 60_000;

const methods = new Map(
  servedServices
    .flatMap(({ service }) => service.methods)
    .filter(({ methodKind }) => methodKind === "unary")
    .map((method) => [method.name, method]),
);
/** Every answer of an example that another takes something from, by its name, for one example that is tried. */
type Answers = Map<string, Promise<JsonObject>>;

let service: TestService;
let examples: RequestExamples;

beforeAll(async () => {
  service = await startTestService({}, { served: withDocumentedIds });
  examples = requestExamples(service.now());
  await fillDemo({
    internalUrl: service.internalUrl,
    issuer: { sign: (request) => service.token(request) },
    now: service.now,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  await callExample("MaterializeSchedule", new Map());
});

afterAll(() => service.close());

describe("the example of a published operation succeeds over REST in the demo tenant as it stands:", () => {
  const published = [...methods.values()].filter((method) => httpBindings(method).length > 0);

  test.each(published.map((method) => ({ name: method.name, method })))("$name", async ({ name, method }) => {
    const request = await complete(exampleNamed(name), new Map());
    const [binding] = httpBindings(method);
    const inPath = new Set(
      method.input.fields.filter((field) => pathFields(method).has(field.name)).map((field) => field.jsonName),
    );
    const names = [...inPath];
    const path = binding?.template.replace(/\{\w+\}/g, () => textOf(request[names.shift() ?? ""]));
    const body = Object.fromEntries(Object.entries(request).filter(([member]) => !inPath.has(member)));
    const answer = await sendRequest(binding?.httpMethod ?? "", `${service.baseUrl}${path}`, {
      token: await token(),
      body,
    });
    expect([answer.status, answer.text]).toEqual([operationOf(method).successStatus, answer.text]);
  });
});

describe("the example of an internal operation succeeds over Connect in the demo tenant as it stands:", () => {
  const internal = Object.keys(requestExamples(0)).filter((name) => {
    const method = methods.get(name.split(" ")[0] ?? "");
    return method !== undefined && httpBindings(method).length === 0;
  });

  test.each(internal)("%s", async (name) => {
    await expect(callExample(name, new Map())).resolves.toBeInstanceOf(Object);
  });
});

test("every operation has an example, and every example an operation", () => {
  const named = Object.keys(requestExamples(0)).map((name) => name.split(" ")[0] ?? "");
  expect([...new Set(named)].toSorted()).toEqual([...methods.keys()].toSorted());
});

test("the ids of the examples are those that docs/demo.md lists for the demo tenant", () => {
  const text = readFileSync(new URL("../../docs/demo.md", import.meta.url), "utf8").split("## Consultorios")[0] ?? "";
  const ids = Object.values(demo).flatMap((kind) => Object.values(kind));
  expect(ids.filter((id) => !text.includes(id))).toEqual([]);
});

/** Calls the RPC of an example, for whose request the examples that it takes something from are called before. */
async function callExample(name: string, answers: Answers): Promise<JsonObject> {
  const example = exampleNamed(name);
  if (name === "OverbookAppointment") service.advance(PAUSE_MS);
  const request = await complete(example, answers);
  if (name === "MarkAppointmentNoShow") service.advance(GRACE_MS);
  const method = methods.get(name.split(" ")[0] ?? "");
  if (method === undefined) throw new Error(`there is no RPC for the example ${name}`);
  return (await post(method, request)).body as JsonObject;
}

async function post(method: DescMethod, body: JsonObject): Promise<RestAnswer> {
  const url = `${service.internalUrl}/${method.parent.typeName}/${method.name}`;
  const answer = await sendRequest("POST", url, { token: await token(), body });
  if (answer.status !== 200) expect.fail(`${method.name} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
  return answer;
}

async function complete({ request, taken = {} }: RequestExample, answers: Answers): Promise<JsonObject> {
  const completed = structuredClone(request);
  for (const [member, source] of Object.entries(taken)) {
    const known = answers.get(source.example) ?? callExample(source.example, answers);
    answers.set(source.example, known);
    put(completed, member, at(await known, source.member));
  }
  return completed;
}

function at(value: unknown, path: string): unknown {
  return stepsOf(path).reduce((held, step) => Reflect.get(Object(held), step), value);
}

function put(target: object, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop() ?? "";
  const parent: unknown = steps.reduce<unknown>((held, step) => Reflect.get(Object(held), step), target);
  Reflect.set(Object(parent), last, value);
}

function stepsOf(path: string): string[] {
  return path.match(/\w+/g) ?? [];
}

function exampleNamed(name: string): RequestExample {
  const example = examples[name];
  if (example === undefined) throw new Error(`there is no example ${name}`);
  return example;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function token(): Promise<string> {
  return service.token({ tenantId: DEMO_TENANT_ID, client: "demo" });
}

import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { httpBindings } from "@cupo/connect-rest";
import { withDocumentedIds } from "../../src/demo/documented-ids.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import type { RequestExample, RequestExamples } from "../../src/openapi/examples/request-example.js";
import { CLINIC_BASE_PATH, isPublished } from "../../src/operation.js";
import type { ServerPorts } from "../../src/server.js";
import { servedServices } from "../../src/services/services.js";
import { type RequestChanges, type RestAnswer, sendRequest } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

/** How long after the start of an appointment its patient counts as a no-show in the demo. In milliseconds. */
const GRACE_MS = 16 * 60_000;
/** Time between two walk-in patients. Their appointments begin at the moment of the request and take 20 minutes. */
const PAUSE_MS = 30 * 60_000;

/** The answers to the examples that another example depends on, by name. One map serves one example under test. */
export type Answers = Map<string, Promise<JsonObject>>;

/** The unary operations by name. */
export const unaryMethods: ReadonlyMap<string, DescMethod> = new Map(
  servedServices
    .flatMap(({ service }) => service.methods)
    .filter(({ methodKind }) => methodKind === "unary")
    .map((method) => [method.name, method]),
);

/** Sends examples to a service with the demo tenants. */
export interface ExampleCalls {
  /** Calls the RPC of an example, after the examples it depends on. */
  call(name: string): Promise<RestAnswer>;
  /** Calls the operation of an example over REST on the public listener, after the examples it depends on. */
  callOverRest(name: string): Promise<RestAnswer>;
  /**
   * Returns the request of an example, with all values that it takes from other answers. The service's clock is then at
   * a time at which it succeeds.
   */
  request(name: string): Promise<JsonObject>;
  token(): Promise<string>;
}

/** Starts a service with the demo tenants. Settings and ports override those of tests. */
export async function startDemoService(
  environment: Readonly<Record<string, string>> = {},
  ports: Partial<ServerPorts> = {},
): Promise<TestService> {
  const service = await startTestService(environment, { served: withDocumentedIds, ...ports });
  await fillDemo({
    internalUrl: service.internalUrl,
    issuer: { sign: (request) => service.token(request) },
    now: service.now,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  return service;
}

export function exampleCalls(service: TestService, examples: RequestExamples): ExampleCalls {
  const token = () => service.token({ tenantId: DEMO_TENANT_ID, client: "demo" });

  async function call(name: string, answers: Answers): Promise<RestAnswer> {
    const request = await requestOf(name, answers);
    const method = methodOf(name);
    const url = `${service.internalUrl}/${method.parent.typeName}/${method.name}`;
    return sendRequest("POST", url, { token: await token(), body: request });
  }

  async function callOverRest(name: string): Promise<RestAnswer> {
    return sendOverRest(service, methodOf(name), await requestOf(name), { token: await token() });
  }

  async function requestOf(name: string, answers: Answers = new Map()): Promise<JsonObject> {
    const example = exampleNamed(examples, name);
    if (name === "OverbookAppointment") service.advance(PAUSE_MS);
    const request = await complete(example, answers);
    if (name === "MarkAppointmentNoShow") service.advance(GRACE_MS);
    return request;
  }

  async function complete({ request, taken = {} }: RequestExample, answers: Answers): Promise<JsonObject> {
    const completed = structuredClone(request);
    for (const [member, source] of Object.entries(taken)) {
      const known = answers.get(source.example) ?? succeed(source.example, answers);
      answers.set(source.example, known);
      put(completed, member, at(await known, source.member));
    }
    return completed;
  }

  async function succeed(name: string, answers: Answers): Promise<JsonObject> {
    const { status, text, body } = await call(name, answers);
    if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
    return body as JsonObject;
  }

  return {
    call: (name) => call(name, new Map()),
    callOverRest,
    request: (name) => requestOf(name),
    token,
  };
}

/** Sends a request over REST on the public listener, or on the only one that has the operation. The `body` of `changes` replaces that of the request. */
export function sendOverRest(
  service: TestService,
  method: DescMethod,
  request: JsonObject,
  changes: RequestChanges,
): Promise<RestAnswer> {
  const { httpMethod, path, body } = renderRest(method, request);
  const url = method.parent.name === "TenantService" ? service.internalUrl : service.publicUrl;
  const prefix = isPublished(method.parent) ? service.baseUrl : `${url}${CLINIC_BASE_PATH}`;
  return sendRequest(httpMethod, `${prefix}${path}`, { ...(body === undefined ? {} : { body }), ...changes });
}

/** The operation of an example, which is the first word of its name. */
export function methodOf(example: string): DescMethod {
  const method = unaryMethods.get(example.split(" ")[0] ?? "");
  if (method === undefined) throw new Error(`there is no RPC for the example ${example}`);
  return method;
}

/** Renders a request by the binding of its method: path, then body or query. */
export function renderRest(method: DescMethod, request: JsonObject) {
  const [binding] = httpBindings(method);
  if (binding === undefined) throw new Error(`${method.name} has no path`);
  const inPath = new Set<string>();
  const path = binding.template.replace(/\{(\w+)\}/g, (_, field: string) => {
    const { jsonName = "" } = method.input.fields.find(({ name }) => name === field) ?? {};
    inPath.add(jsonName);
    return textOf(request[jsonName]);
  });
  const members = Object.entries(request).filter(([member]) => !inPath.has(member));
  if (binding.body === "*") return { httpMethod: binding.httpMethod, path, body: Object.fromEntries(members) };
  const pairs = members.flatMap(([member, value]) =>
    [value].flat().map((each): [string, string] => [member, textOf(each)]),
  );
  const query = pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
  return { httpMethod: binding.httpMethod, path: `${path}${query}` };
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

function exampleNamed(examples: RequestExamples, name: string): RequestExample {
  const example = examples[name];
  if (example === undefined) throw new Error(`there is no example ${name}`);
  return example;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

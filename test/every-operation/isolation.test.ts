import { randomUUID } from "node:crypto";
import type { DescMethod, DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { TenantService } from "../../src/gen/cupo/clinic/v1/tenant_service_pb.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { takesIdempotencyKey } from "../../src/operation.js";
import { rpcNamed } from "../contract/published-operations.js";
import {
  type ExampleCalls,
  exampleCalls,
  sendOverRest,
  startDemoService,
  unaryMethods,
} from "../openapi/example-calls.js";
import { expectProblem, itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { has, idPositions, put } from "./id-positions.js";
import { baseOf, requestFor, tableOf } from "./id-rows.js";
import { createTwin, type TenantTwin } from "./tenant-twin.js";

/** Examples that create the resources that the demo tenant does not have. */
const CREATIONS = [
  "BookAppointment",
  "BookSeries",
  "CheckEligibility",
  "CreateCase",
  "CreateNote",
  "CreateScheduleBlock",
  "CreateWaitlistEntry",
  "CreateWebhook",
  "HoldAppointmentOption",
];

const TWIN_ID = randomUUID();

let service: TestService;
let examples: ExampleCalls;
let twin: TenantTwin;

beforeAll(async () => {
  service = await startDemoService({ PUBLIC_CLINIC_API: "all" });
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
  for (const name of CREATIONS) expect((await examples.call(name)).status).toBe(200);
  twin = await createTwin(service, DEMO_TENANT_ID, TWIN_ID);
});

afterAll(() => service.close());

describe("another tenant's option token is answered as an altered one", () => {
  const methods = [...unaryMethods.values()].filter(({ input }) =>
    input.fields.some(({ jsonName }) => jsonName === "optionToken"),
  );

  test.each(methods.map((method) => ({ name: method.name, method })))("$name", async ({ name, method }) => {
    const search = await known("SearchAppointmentOptions");
    const as = { tenantId: TWIN_ID };
    const found = await callRpc(service, rpcNamed("SearchAppointmentOptions"), twin.requestOf(search), { as });
    const [option] = found.body["options"] as { readonly optionToken: string }[];
    const [request, token] = [await known(name), await service.token({ tenantId: DEMO_TENANT_ID })];
    const headers = { "x-correlation-id": randomUUID() };
    const send = (optionToken: string) =>
      sendOverRest(service, method, { ...request, optionToken }, { token, headers });
    const altered = await send(`${JSON.stringify(request["optionToken"]).slice(1, -5)}AAAA`);
    expectProblem(altered, 422);
    expect((await send(option?.optionToken ?? "")).text).toBe(altered.text);
  });
});

/** All operations but those of operators, who reach other tenants: test/tenants/tenant-access.test.ts. */
describe("another tenant's id is answered as an unknown one", () => {
  let before: Record<string, unknown>;

  beforeAll(async () => {
    before = await twin.digest();
  });

  for (const method of unaryMethods.values()) {
    if (method.parent === TenantService) continue;
    for (const place of idPositions(method.input)) {
      test(`${method.name}: ${place}`, async () => {
        const request = await requestWith(method, place);
        const headers = { "x-correlation-id": randomUUID() };
        const token = await service.token({ tenantId: DEMO_TENANT_ID });
        const send = (id: string) => sendOverRest(service, method, put(request, place, id), { token, headers });
        const [unknown, foreign] = [randomUUID(), await twin.someId(tableOf(method, place))];
        const answer = await send(unknown);
        expectMissing(method, place, answer);
        expect(comparable(await send(foreign), foreign)).toEqual(comparable(answer, unknown));
        const as = { tenantId: DEMO_TENANT_ID };
        const overRpc = await callRpc(service, method as DescMethodUnary, put(request, place, foreign), {
          as,
          headers,
        });
        expect(overRpc.status >= 400 && overRpc.body).toEqual(answer.status >= 400 && answer.body);
      });
    }
  }

  test("and no request has changed the other tenant", async () => {
    expect(await twin.digest()).toEqual(before);
  });
});

const requests = new Map<string, Promise<JsonObject>>();

/** Returns a request that succeeds and can have an id at the place. Rejected requests leave it unused. */
async function requestWith(method: DescMethod, place: string): Promise<JsonObject> {
  const own = requestFor(method, place);
  const base = baseOf(method, place);
  if (own !== undefined) return { ...(base === undefined ? {} : await known(base)), ...own };
  const all = await Promise.all(examplesOf(method).map((name) => known(name)));
  return all.find((each) => has(each, place)) ?? all[0] ?? {};
}

function examplesOf(method: DescMethod): string[] {
  return Object.keys(requestExamples(0)).filter((name) => name.split(" ")[0] === method.name);
}

function known(name: string): Promise<JsonObject> {
  const request = requests.get(name) ?? examples.request(name);
  requests.set(name, request);
  return request;
}

/** Requires that the answer depends on the id: it says that there is no such resource, or it is a list. */
function expectMissing(method: DescMethod, place: string, answer: RestAnswer): void {
  const field = place.replace(/^rows\[\d+\]\./, "");
  const detail = JSON.stringify(answer.body["detail"] ?? "");
  const outcomes = JSON.stringify(answer.body["outcomes"] ?? "");
  const says =
    (answer.status === 404 && detail.endsWith(`(${field})."`)) ||
    itemsOf(answer).includes(`${field} NOT_FOUND`) ||
    outcomes.includes(`"code":"NOT_FOUND","field":"${field}"`) ||
    (place.startsWith("choices") && outcomes.includes('"refusal":"NOT_FOUND"'));
  if (says) return;
  expect([answer.status, takesIdempotencyKey(method), answer.text]).toEqual([200, false, answer.text]);
}

/** Returns the parts of an answer that must be equal, without the id that was sent. */
function comparable({ status, text, headers }: RestAnswer, id: string) {
  const { date: _date, ratelimit: _quota, ...rest } = Object.fromEntries(headers);
  return { status, text: text.replaceAll(id, "the id"), rest };
}

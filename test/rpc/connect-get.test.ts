import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { isReadable } from "../../src/rpc/handler.js";
import { servedServices } from "../../src/services/services.js";
import { type ExampleCalls, exampleCalls, methodOf, startDemoService } from "../openapi/example-calls.js";
import { answerOf, type RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

const GET_LOCATION = "/cupo.clinic.v1.ReferenceDataService/GetLocation";
const methods = servedServices.flatMap(({ service: { methods: own } }) => own);
const readable = methods.filter(isReadable);

let service: TestService;
let examples: ExampleCalls;

beforeAll(async () => {
  service = await startDemoService();
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

afterAll(() => service.close());

describe("the methods that Connect may call by GET", () => {
  test("are the unary ones without side effects, and none of the published ones", () => {
    const free = methods.filter(({ idempotency, methodKind }) => {
      return idempotency === Level.NO_SIDE_EFFECTS && methodKind === "unary";
    });
    expect(readable).toEqual(free);
    expect(readable.length).toBeGreaterThan(40);
    expect(readable.filter(({ parent }) => parent.typeName.startsWith("cupo.access."))).toEqual([]);
  });

  test("have no text about a person in their requests, because URLs are logged by others", () => {
    const personal = /^(name|full_name|phone|email|text|comment|note|document_.*)$/;
    const fields = readable.flatMap(({ input }) => fieldsIn(input));
    expect(fields.filter(({ name }) => personal.test(name)).map(String)).toEqual([]);
  });

  test.each(Object.keys(requestExamples(0)).filter((name) => isReadable(methodOf(name))))(
    "answer by GET as by POST, without a key, and write nothing: %s",
    async (name) => {
      const request = await examples.request(name);
      const { parent, name: rpc } = methodOf(name);
      const message = encodeURIComponent(JSON.stringify(request));
      const byGet = await get(`/${parent.typeName}/${rpc}?connect=v1&encoding=json&message=${message}`);
      expect([byGet.status, byGet.text]).toEqual([200, byGet.text]);
      const byPost = await examples.call(name);
      expect(Object.keys(byGet.body)).toEqual(Object.keys(byPost.body));
      expect(await countWritten(byGet)).toBe(0);
    },
  );

  test.each(methods.filter((method) => !isReadable(method)).map((method) => [method.name, method] as const))(
    "are not those that write or leave an access record: %s",
    async (_, { parent, name }) => {
      const { status, headers } = await get(`/${parent.typeName}/${name}?connect=v1&encoding=json&message=%7B%7D`);
      expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    },
  );

  test("name both methods to others", async () => {
    const answer = await fetch(service.internalUrl + GET_LOCATION, { method: "PUT", body: "{}" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });
});

describe("a call by GET", () => {
  test.each([
    ["binary", true],
    ["JSON", false],
  ])("is sent by connect-node in %s", async (_, useBinaryFormat) => {
    const sent = new Set<string>();
    const note = (message: unknown) => {
      const { path, method } = (message as { readonly request: ClientRequest }).request;
      if (path.startsWith(GET_LOCATION)) sent.add(method);
    };
    subscribe("http.client.request.start", note);
    try {
      const baseUrl = service.internalUrl;
      const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true, useBinaryFormat });
      const client = createClient(ReferenceDataService, transport);
      const headers = { authorization: `Bearer ${await examples.token()}` };
      const { location } = await client.getLocation({ locationId: demo.location.chia }, { headers });
      expect(location?.locationId).toBe(demo.location.chia);
      expect([...sent]).toEqual(["GET"]);
      const refused = await client.getLocation({ locationId: "x" }, { headers }).catch(ConnectError.from);
      expect(refused).toMatchObject({ code: Code.InvalidArgument });
    } finally {
      unsubscribe("http.client.request.start", note);
    }
  });

  test.each([
    ["no access token", "%7B%7D", null, 401, "unauthenticated"],
    ["no scope", "%7B%7D", { scopes: ["notes:read"] }, 403, "permission_denied"],
    ["an unknown member", "%7B%22nope%22%3A1%7D", {}, 400, "invalid_argument"],
    ["a value that breaks a rule", "%7B%22locationId%22%3A%22x%22%7D", {}, 400, "invalid_argument"],
  ] as const)("with %s is refused as by POST", async (_, message, as, status, code) => {
    const answer = await get(`${GET_LOCATION}?connect=v1&encoding=json&message=${message}`, as);
    expect([answer.status, answer.body["code"]]).toEqual([status, code]);
  });

  test("with a URL over the limit of headers is 431", async () => {
    const { status } = await get(`${GET_LOCATION}?connect=v1&encoding=json&message=${"x".repeat(17_000)}`);
    expect(status).toBe(431);
  });

  test("counts against the quota, and is not to be cached", async () => {
    const { headers } = await get(`${GET_LOCATION}?connect=v1&encoding=json&message=%7B%7D`);
    expect(headers.get("ratelimit")).toMatch(/"minute";r=\d+/);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

async function get(path: string, as: TokenFor | null = {}): Promise<RestAnswer> {
  const token = as === null ? undefined : await service.token({ tenantId: DEMO_TENANT_ID, ...as });
  return answerOf(
    await fetch(
      service.internalUrl + path,
      token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
    ),
  );
}

/** Counts the rows that a call wrote, in each table whose rows name their call. */
async function countWritten({ headers }: RestAnswer): Promise<number> {
  const columns = await service.query(
    `SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.column_name = 'correlation_id' AND t.table_type = 'BASE TABLE' AND c.table_schema = 'public'`,
  );
  expect(columns.length).toBeGreaterThan(3);
  const id = headers.get("x-correlation-id");
  const selects = columns.map(
    ({ table_name: table }) => `SELECT 1 FROM ${String(table)} WHERE correlation_id::text = '${id}'`,
  );
  return (await service.query(selects.join(" UNION ALL "))).length;
}

/** The fields of a message and of those in it. */
function fieldsIn({ fields }: DescMessage): readonly DescField[] {
  return fields.flatMap((field) => [field, ...(field.message === undefined ? [] : fieldsIn(field.message))]);
}

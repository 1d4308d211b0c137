import { randomUUID } from "node:crypto";
import { restRoutes } from "@cupo/connect-rest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { hasEntityTag } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { type ExampleCalls, exampleCalls, methodOf, renderRest, startDemoService } from "../openapi/example-calls.js";
import { type RestAnswer, sendRequest } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

const TAG = /^"[\w-]{43}"$/;
/** Operations that return a report and no resource. */
const REPORTS = new Set(["GetOccupancy", "GetOpportunityIndicators", "VerifyInvariants"]);
const tagged = servedServices.flatMap(({ service }) => service.methods.filter(hasEntityTag));

let service: TestService;
let examples: ExampleCalls;

beforeAll(async () => {
  service = await startDemoService({ PUBLIC_CLINIC_API: "all" });
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

afterAll(() => service.close());

/** The public listener never serves operators, so it has no GetTenant. */
describe("a resource of the clinic", () => {
  test.each(Object.keys(requestExamples(0)).filter((name) => hasEntityTag(methodOf(name)) && name !== "GetTenant"))(
    "has an ETag, and is 304 to who has it: %s",
    async (name) => {
      const { httpMethod, path } = renderRest(methodOf(name), await examples.request(name));
      expect(httpMethod).toBe("GET");
      const first = await get(path);
      const tag = first.headers.get("etag") ?? "";
      expect([first.status, tag]).toEqual([200, expect.stringMatching(TAG)]);
      const again = await get(path, `W/"other", ${tag}`);
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", tag]);
      expect((await get(path, `"other"`)).text).toBe(first.text);
    },
  );

  test("has another ETag after a change, whatever changed it", async () => {
    const path = `/locations/${demo.location.chia}`;
    const before = await get(path);
    const body = { name: `Sede ${randomUUID()}`, expectedVersion: before.body["version"] };
    expect((await send("PATCH", path, { body })).status).toBe(200);
    const after = await get(path, before.headers.get("etag") ?? "");
    expect([after.status, after.body]).toMatchObject([200, { name: body.name }]);
  });

  test("has another ETag for a caller who may read less of it", async () => {
    const path = `/patients/${demo.patient.quintero}`;
    const whole = await get(path);
    const as = { scopes: ["patients:read"] };
    const part = await get(path, whole.headers.get("etag") ?? "", as);
    expect([part.status, Object.keys(part.body).length < Object.keys(whole.body).length]).toEqual([200, true]);
    expect((await get(path, part.headers.get("etag") ?? "", as)).status).toBe(304);
  });

  test("says with 304 what every answer says, and the request counts", async () => {
    const path = `/locations/${demo.location.chapinero}`;
    const tag = (await get(path)).headers.get("etag") ?? "";
    const left: number[] = [];
    for (let i = 0; i < 2; i++) {
      const { headers } = await get(path, tag);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-correlation-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("content-type")).toBeNull();
      left.push(Number(/"minute";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]));
    }
    expect(left[1]).toBeLessThan(left[0] ?? 0);
  });

  test("leaves its access record with 304 too, and needs the scope", async () => {
    const path = `/patients/${demo.patient.ospina}`;
    const tag = (await get(path)).headers.get("etag") ?? "";
    const known = await get(path, tag);
    const id = known.headers.get("x-correlation-id") ?? "";
    const records = await service.query(`SELECT 1 FROM patient_access_records WHERE correlation_id = '${id}'`);
    expect([known.status, records.length]).toEqual([304, 1]);
    expect((await get(path, "*", { scopes: ["scheduling:read"] })).status).toBe(403);
    expect((await get(`/patients/${randomUUID()}`, "*")).status).toBe(404);
  });
});

test("lists have no ETag", async () => {
  const { status, headers } = await get("/locations", "*");
  expect([status, headers.get("etag")]).toEqual([200, null]);
});

test("every operation that returns one resource has an ETag, and no published one", () => {
  expect(tagged.map(({ parent }) => parent.file.proto.package)).not.toContain("cupo.access.v1");
  const single = restRoutes(
    "",
    servedServices.map(({ service: each }) => each),
  ).filter(({ httpMethod, method }) => {
    const [field, ...others] = method.output.fields;
    return httpMethod === "GET" && field?.fieldKind === "message" && others.length === 0;
  });
  const resources = (names: readonly string[]) => names.filter((name) => !REPORTS.has(name)).toSorted();
  expect(resources(single.map(({ method }) => method.name))).toEqual(resources(tagged.map(({ name }) => name)));
  expect(tagged.length).toBeGreaterThan(20);
});

function get(path: string, ifNoneMatch?: string, as?: TokenFor): Promise<RestAnswer> {
  return send("GET", path, ifNoneMatch === undefined ? {} : { headers: { "if-none-match": ifNoneMatch } }, as);
}

async function send(method: string, path: string, changes: object, as: TokenFor = {}): Promise<RestAnswer> {
  const token = await service.token({ tenantId: DEMO_TENANT_ID, ...as });
  return sendRequest(method, `${service.publicUrl}/api/clinic/v1${path}`, { token, ...changes });
}

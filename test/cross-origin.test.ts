import { connect as connectTcp } from "node:net";
import { text as readText } from "node:stream/consumers";
import { restRoutes } from "@cupo/connect-rest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { corsMethods, corsRequestHeaders, corsResponseHeaders } from "../src/http/cors.js";
import { requestHeaders, responseHeaders } from "../src/openapi/header-components.js";
import { servedServices } from "../src/services/services.js";
import { answerOf, type RestAnswer } from "./support/rest-request.js";
import { startTestService, type TestService } from "./support/service.js";

const APP = "https://app.example.org";
const OTHER = "https://evil.example.org";
const LIST_LOCATIONS = "/cupo.clinic.v1.ReferenceDataService/ListLocations";

let listed: TestService;
let open: TestService;
let off: TestService;

beforeAll(async () => {
  const PUBLIC_CLINIC_API = "all";
  [listed, open, off] = await Promise.all([
    startTestService({
      CORS_ORIGINS: `${APP} http://localhost:5173`,
      PUBLIC_CLINIC_API,
      RATE_LIMIT_PER_SECOND: "1000",
    }),
    startTestService({ CORS_ORIGINS: "*" }),
    startTestService({ PUBLIC_CLINIC_API }),
  ]);
});

afterAll(() => Promise.all([listed.close(), open.close(), off.close()]));

/** Every kind of resource: REST of both listeners, RPC, pages, and paths that do not exist. */
const places: readonly (readonly [string, (service: TestService) => string])[] = [
  ["published operations", ({ baseUrl }) => `${baseUrl}/patients`],
  ["the clinic's operations on the public listener", ({ publicUrl }) => `${publicUrl}/api/clinic/v1/locations`],
  ["the clinic's operations on the internal listener", ({ internalUrl }) => `${internalUrl}/api/clinic/v1/locations`],
  ["RPC", ({ internalUrl }) => internalUrl + LIST_LOCATIONS],
  ["health", ({ internalUrl }) => `${internalUrl}/grpc.health.v1.Health/Check`],
  ["documents", ({ baseUrl }) => `${baseUrl}/openapi.json`],
  ["nothing", ({ publicUrl }) => `${publicUrl}/nothing`],
];

describe("a preflight", () => {
  test.each(places)("of an allowed origin is 204 before authentication: %s", async (_, urlOf) => {
    for (const origin of [APP, "http://localhost:5173"]) {
      const { status, headers, text } = await preflight(urlOf(listed), origin);
      expect([status, text, headers.get("access-control-allow-origin")]).toEqual([204, "", origin]);
      expect(headers.get("access-control-allow-methods")).toBe(corsMethods.join(", "));
      expect(headers.get("access-control-allow-headers")).toBe(corsRequestHeaders.join(", "));
      expect(headers.get("access-control-max-age")).toBe("7200");
      expect(headers.get("vary")).toBe("Origin");
      expect(headers.get("x-correlation-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test.each(places)("of any origin is 204 if all are allowed: %s", async (_, urlOf) => {
    const { status, headers } = await preflight(urlOf(open), "null");
    expect([status, headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([204, "*", null]);
  });

  test.each(places)("of another origin, and without the setting, is answered as ever: %s", async (_, urlOf) => {
    const expected = await preflight(urlOf(off), APP);
    const refused = await preflight(urlOf(listed), OTHER);
    expect([refused.status, refused.headers.get("allow")]).toEqual([expected.status, expected.headers.get("allow")]);
    expect(refused.headers.get("vary")).toContain("Origin");
    expect(corsHeadersOf(expected)).toEqual([]);
    expect(corsHeadersOf(refused)).toEqual([]);
  });

  test("is an OPTIONS with both headers; others are answered as ever", async () => {
    const url = `${listed.baseUrl}/patients`;
    const { status } = await answerOf(await fetch(url, { method: "OPTIONS", headers: { origin: APP } }));
    expect(status).toBe(405);
  });

  test("allows no credentials that browsers send on their own", async () => {
    const { headers } = await preflight(`${open.baseUrl}/patients`, APP);
    expect(headers.has("access-control-allow-credentials")).toBe(false);
  });
});

describe("an answer to an allowed origin can be read", () => {
  test("by its page, with the headers that operations have", async () => {
    const answer = await send(listed, "GET", `${listed.publicUrl}/api/clinic/v1/locations`);
    expect(answer.status).toBe(200);
    expectReadable(answer);
  });

  test.each([
    ["401", 401, "POST", "/api/external/v1/patients", { authorization: "" }],
    ["404", 404, "GET", "/nothing", {}],
    ["404 of a resource", 404, "GET", "/api/clinic/v1/locations/00000000-0000-4000-8000-000000000000", {}],
    ["405", 405, "PUT", "/api/external/v1/patients", {}],
    ["400", 400, "POST", "/api/external/v1/patients", { "idempotency-key": "" }],
    ["422", 422, "POST", "/api/external/v1/patients", {}],
    ["431", 431, "GET", "/nothing", { "x-padding": "x".repeat(20_000) }],
  ])("if it is an error: %s", async (_, status, method, path, headers) => {
    const body = method === "POST" ? "{}" : undefined;
    const all = { "content-type": "application/json", "idempotency-key": "k", ...headers };
    const answer = await send(open, method, open.publicUrl + path, all, body);
    const expected = path.includes("clinic") ? 404 : status;
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([expected, "*"]);
    const exposed = answer.headers.get("access-control-expose-headers");
    expect(exposed).toContain("X-Correlation-Id");
  });

  test("if it is 429 or 503", async () => {
    const service = await startTestService({ CORS_ORIGINS: APP, RATE_LIMIT_PER_MINUTE: "1" }, { isProxied: true });
    try {
      service.proxy.setDown(true);
      const unavailable = await send(service, "POST", service.internalUrl + LIST_LOCATIONS, json, "{}");
      const limited = await send(service, "POST", service.internalUrl + LIST_LOCATIONS, json, "{}");
      expect([unavailable.status, limited.status]).toEqual([503, 429]);
      expect(limited.headers.get("retry-after")).toMatch(/^\d+$/);
      for (const answer of [unavailable, limited]) expectReadable(answer);
    } finally {
      await service.close();
    }
  });

  test("over gRPC-Web, with its status", async () => {
    const headers = { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" };
    const answer = await send(listed, "POST", listed.internalUrl + LIST_LOCATIONS, headers, "\0\0\0\0\0");
    expect(answer.status).toBe(200);
    expectReadable(answer);
    expect(answer.headers.get("access-control-expose-headers")).toContain("Grpc-Status");
  });

  test("also the answer to a request that never became one", async () => {
    const { hostname, port } = new URL(listed.publicUrl);
    const socket = connectTcp({ host: hostname, port: Number(port) });
    socket.end(`GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nOrigin: ${APP}\r\n\r\n`);
    const text = await readText(socket);
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain(`Access-Control-Allow-Origin: ${APP}\r\n`);
  });
});

test("an answer to another origin, or to none, has no header of CORS but says that it depends on the origin", async () => {
  const url = `${listed.publicUrl}/api/clinic/v1/locations`;
  for (const origin of [OTHER, `${APP}.evil.org`, "null", undefined]) {
    const answer = await send(listed, "GET", url, { origin: origin ?? "" });
    expect([answer.status, corsHeadersOf(answer), answer.headers.get("vary")]).toEqual([200, [], "Origin"]);
  }
});

test("a page says that it depends on the origin and on the coding", async () => {
  const answer = await send(listed, "GET", `${listed.baseUrl}/openapi.json`);
  expect(answer.headers.get("vary")).toBe("Origin, Accept-Encoding");
  expect(corsHeadersOf(answer)).toContain("access-control-allow-origin");
});

test("without the setting no answer has a header of CORS", async () => {
  const answer = await send(off, "POST", `${off.baseUrl}/patients`, { ...json, "idempotency-key": "k" });
  expect([corsHeadersOf(answer), answer.headers.get("vary")]).toEqual([[], null]);
});

describe("the lists of methods and headers", () => {
  test("have every method of an operation, and no other", () => {
    const services = servedServices.map(({ service }) => service);
    const ofRest = services.flatMap((service) => restRoutes("", [service]).map(({ httpMethod }) => httpMethod));
    expect(corsMethods.toSorted()).toEqual([...new Set([...ofRest, "GET", "POST"])].toSorted());
  });

  test("have every header that the documents name", () => {
    const allowed = corsRequestHeaders.map((name) => name.toLowerCase());
    for (const name of Object.keys(requestHeaders)) expect(allowed).toContain(name.toLowerCase());
    for (const name of Object.keys(responseHeaders)) expect(corsResponseHeaders).toContain(name);
  });
});

const json = { "content-type": "application/json" };

async function preflight(url: string, origin: string): Promise<RestAnswer> {
  const headers = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,idempotency-key",
  };
  return answerOf(await fetch(url, { method: "OPTIONS", headers }));
}

async function send(
  service: TestService,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<RestAnswer> {
  const all = { authorization: `Bearer ${await service.token()}`, origin: APP, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  return answerOf(await fetch(url, { method, headers: sent, ...(body === undefined ? {} : { body }) }));
}

function expectReadable({ headers }: RestAnswer): void {
  expect(headers.get("access-control-allow-origin")).toBe(APP);
  expect(headers.get("access-control-expose-headers")).toBe(corsResponseHeaders.join(", "));
  expect(headers.get("vary")).toBe("Origin");
}

function corsHeadersOf({ headers }: RestAnswer): string[] {
  return [...headers.keys()].filter((name) => name.startsWith("access-control-"));
}

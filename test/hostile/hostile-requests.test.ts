import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectCommonHeaders, expectProblem, itemsOf } from "../support/problem.js";
import { type RawRequest, sendRaw, withHeader } from "../support/raw-request.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import { bodiesOfTheWrongShape, bodiesThatAreNoJson, type Row } from "./bad-bodies.js";
import { added, BASE, body, changed, chunked, gzip, header, MARKER, method, patch, target, twice } from "./change.js";

const KIB = 1024;

let service: TestService;
let token: string;

beforeAll(async () => {
  service = await startTestService();
  token = await service.token();
});

afterAll(() => service.close());

const headers: readonly Row[] = [
  ["two Authorization headers", 401, added("Authorization", "Bearer hostile-marker")],
  ["the same Authorization header twice", 401, twice("Authorization")],
  ["two tokens in a header", 401, changed("Authorization", (bearer) => `${bearer}, ${bearer}`)],
  ["bearer in lower case", 201, changed("Authorization", (bearer) => bearer.replace("Bearer", "bearer"))],
  ["two Idempotency-Keys", 400, added("Idempotency-Key", MARKER), ["Idempotency-Key INVALID_VALUE"]],
  ["the same Idempotency-Key twice", 400, twice("Idempotency-Key"), ["Idempotency-Key INVALID_VALUE"]],
  ["an empty Idempotency-Key", 400, header("Idempotency-Key", ""), ["Idempotency-Key REQUIRED"]],
  [
    "an Idempotency-Key of 256 characters",
    400,
    header("Idempotency-Key", MARKER.padEnd(256, "x")),
    ["Idempotency-Key TOO_LONG"],
  ],
  ["a latin1 Idempotency-Key", 400, header("Idempotency-Key", `${MARKER}\xe9`), ["Idempotency-Key INVALID_FORMAT"]],
  [
    "an Idempotency-Key with a space",
    400,
    header("Idempotency-Key", `${MARKER} x`),
    ["Idempotency-Key INVALID_FORMAT"],
  ],
  ["two X-Correlation-Ids", 400, twice("X-Correlation-Id"), ["X-Correlation-Id INVALID_UUID"]],
  ["no Content-Type", 400, header("Content-Type", undefined), ["Content-Type INVALID_VALUE"]],
  ["two Content-Types", 400, twice("Content-Type"), ["Content-Type INVALID_VALUE"]],
  ["text/plain", 400, header("Content-Type", "text/plain")],
  ["a form", 400, header("Content-Type", "application/x-www-form-urlencoded")],
  ["another kind of JSON", 400, header("Content-Type", "application/merge-patch+json")],
  ["charset latin1", 400, header("Content-Type", "application/json; charset=iso-8859-1")],
  [
    "charset UTF-8 in quotes, other parameters, other case",
    201,
    header("Content-Type", 'Application/JSON;x=1; charset="UTF-8"'),
  ],
  ["Content-Encoding gzip", 400, gzip((json) => json), ["Content-Encoding INVALID_VALUE"]],
  ["a gzip bomb", 400, gzip(() => " ".repeat(10 * KIB * KIB)), ["Content-Encoding INVALID_VALUE"]],
  ["Content-Encoding identity", 201, header("Content-Encoding", "identity")],
  ["an Accept for something else", 201, header("Accept", "text/html")],
  ["a header with the name constructor", 201, added("constructor", MARKER)],
  ["a header with the name __proto__", 201, added("__proto__", MARKER)],
  ["a method override", 201, header("X-HTTP-Method-Override", "DELETE")],
  ["an Upgrade to h2c", 201, added("Upgrade", "h2c")],
  ["Expect: 100-continue", 201, header("Expect", "100-continue")],
  ["the Host of another server", 404, (good) => ({ ...header("Host", MARKER)(good), target: "/nothing" })],
];

const targets: readonly Row[] = [
  ["the absolute form", 201, (good) => ({ ...good, target: `http://${MARKER}${good.target}` })],
  ["a trailing slash", 404, target(`${BASE}/patients/`)],
  ["a double slash", 404, target(`${BASE}//patients`)],
  ["an encoded slash", 404, target(`${BASE}%2Fpatients`)],
  ["upper case", 404, target(`${BASE}/PATIENTS`)],
  ["dot segments", 404, target(`${BASE}/../v1/patients`)],
  ["encoded dot segments", 404, target(`${BASE}/%2e%2e/v1/patients`)],
  ["dot segments above the root", 404, target("/../../../../etc/passwd")],
  ["another version of the interface", 404, target("/api/external/v2/patients")],
  ["a fragment", 404, target(`${BASE}/patients#${MARKER}`)],
  ["a query parameter", 400, target(`${BASE}/patients?x=${MARKER}`)],
  ["a field of the body in the query", 400, target(`${BASE}/patients?fullName=${MARKER}`)],
  ["a slash in the id", 404, patch(`${BASE}/patients/a%2F${MARKER}`)],
  ["U+0000 in the id", 404, patch(`${BASE}/patients/%00${MARKER}`)],
  ["a bad percent escape in the id", 400, patch(`${BASE}/patients/%zz${MARKER}`), ["patientId INVALID_FORMAT"]],
  ["an id that is not UTF-8", 400, patch(`${BASE}/patients/%FF${MARKER}`), ["patientId INVALID_FORMAT"]],
  ["a method the path does not have", 405, method("DELETE")],
  ["GET", 405, method("GET")],
  ["OPTIONS", 405, method("OPTIONS")],
  ["TRACE", 405, method("TRACE")],
  ["OPTIONS of the server", 404, (good) => ({ ...good, method: "OPTIONS", target: "*" })],
];

const messages: readonly Row[] = [
  ["a method that Node does not know", 400, method("HOSTILE")],
  ["a method in lower case", 400, method("post")],
  ["CONNECT", 400, (good) => ({ ...good, method: "CONNECT", target: "example.org:443" })],
  ["a NUL in the path", 400, target(`${BASE}/patients\0${MARKER}`)],
  ["no Host", 400, header("Host", undefined)],
  ["two Hosts", 400, added("Host", MARKER)],
  ["HTTP/1.0", 201, (good) => ({ ...good, version: "HTTP/1.0" })],
  ["HTTP/1.0 and chunks", 400, (good) => ({ ...chunked((json) => json)(good), version: "HTTP/1.0" })],
  ["HTTP/0.9", 400, (good) => ({ ...good, version: "HTTP/0.9" })],
  ["HTTP/2.0 in a request line of HTTP/1.1", 400, (good) => ({ ...good, version: "HTTP/2.0" })],
  ["HTTP/9.9", 400, (good) => ({ ...good, version: "HTTP/9.9" })],
  ["chunks and a length", 400, (good) => added("Content-Length", "10")(chunked((json) => json)(good))],
  ["two lengths", 400, (good) => added("Content-Length", "3")(added("Content-Length", "2")(good))],
  ["a negative length", 400, header("Content-Length", "-1")],
  ["chunks of no size", 400, (good) => ({ ...header("Transfer-Encoding", "chunked")(good), body: "zz\r\n" })],
  ["an unknown Transfer-Encoding", 400, header("Transfer-Encoding", "hostile")],
  [
    "gzip as a Transfer-Encoding",
    400,
    (good) => header("Transfer-Encoding", "gzip, chunked")(chunked((json) => json)(good)),
  ],
  ["obsolete line folding", 400, added("X-Folded", `a\r\n ${MARKER}`)],
  ["a space before the colon", 400, added("X-Blank ", MARKER)],
  ["a NUL in a header", 400, added("X-Nul", `${MARKER}\0`)],
  ["a header of 17 KiB", 431, added("X-Long", MARKER.padEnd(17 * KIB, "x"))],
  ["2,000 headers", 431, (good) => ({ ...good, headers: [...good.headers, ...manyHeaders(2_000)] })],
  ["valid chunks", 201, chunked((json) => json)],
  ["a body of 64 KiB", 201, body((json) => json.padEnd(64 * KIB))],
];

const groups = { bodiesThatAreNoJson, bodiesOfTheWrongShape, headers, targets, messages };

describe.each(Object.entries(groups))("%s", (_, rows) => {
  for (const [name, status, change, items] of rows) {
    test(`${name}: ${status}`, async () => {
      const answer = await sendRaw(service.publicUrl, change(goodRequest()));
      if (status < 300) return expect({ status: answer.status, items: itemsOf(answer) }).toEqual({ status, items: [] });
      expectProblem(answer, status, items);
      expect(answer.text).not.toContain(MARKER);
      expect([...answer.headers.values()].join()).not.toContain(MARKER);
    });
  }
});

test("405 lists the methods of the path", async () => {
  const answer = await sendRaw(service.publicUrl, method("PUT")(goodRequest()));
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
});

test.each([
  ["a transfer coding", (good: RawRequest) => withHeader(good, "Transfer-Encoding", "gzip, chunked")],
  [
    "a chunk of no size",
    (good: RawRequest) => ({ ...withHeader(good, "Transfer-Encoding", "chunked"), body: "zz\r\n" }),
  ],
  ["no Host", (good: RawRequest) => withHeader(good, "Host", undefined)],
])("a rejection after the headers were read has the correlation id of the request: %s", async (_, change) => {
  const request = change(goodRequest());
  const answer = await sendRaw(service.publicUrl, request);
  expectProblem(answer, 400);
  expect(answer.body["correlationId"]).toBe(correlationIdOf(request));
});

test("a rejection of an invalid correlation id has a new one, also at the socket", async () => {
  const named = withHeader(goodRequest(), "X-Correlation-Id", MARKER);
  const answer = await sendRaw(service.publicUrl, {
    ...withHeader(named, "Transfer-Encoding", "chunked"),
    body: "zz\r\n",
  });
  expectProblem(answer, 400);
  expect(answer.text).not.toContain(MARKER);
});

test("HEAD is not allowed, and its answer has no body", async () => {
  const answer = await sendRaw(service.publicUrl, method("HEAD")(goodRequest()));
  expect([answer.status, answer.headers.get("allow"), answer.text]).toEqual([405, "POST", ""]);
  expectCommonHeaders(answer);
});

test("the log contains no part of these requests", () => {
  expect(service.log.length).toBeGreaterThan(50);
  expect(JSON.stringify(service.log)).not.toContain(MARKER);
  expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

function goodRequest(): RawRequest {
  return {
    method: "POST",
    target: `${BASE}/patients`,
    version: "HTTP/1.1",
    headers: [
      ["Host", new URL(service.publicUrl).host],
      ["Authorization", `Bearer ${token}`],
      ["Content-Type", "application/json"],
      ["Idempotency-Key", randomUUID()],
      ["X-Correlation-Id", randomUUID()],
    ],
    body: JSON.stringify(registration({ fullName: MARKER })),
  };
}

function correlationIdOf(request: RawRequest): string | undefined {
  return request.headers.find(([name]) => name === "X-Correlation-Id")?.[1];
}

function manyHeaders(count: number): RawRequest["headers"] {
  return Array.from({ length: count }, (_, i) => [`X-${i}`, MARKER]);
}

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fromJsonString } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CupoError,
  conflict,
  type ErrorCode,
  errorTable,
  type FieldErrorCode,
  notFound,
  validationFailed,
} from "../../src/errors.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { connectErrorOf } from "../../src/interceptors/connect-error.js";
import { serveResources } from "../../src/pages/serve-resources.js";
import { fieldCodes } from "../../src/problems/field-codes.js";
import { codesOf } from "../../src/problems/operation-codes.js";
import { asCupoError, problemJson, problemOf } from "../../src/problems/problem.js";
import { problemPages } from "../../src/problems/problem-pages.js";
import { servedServices } from "../../src/services/services.js";
import { callWith, correlationId } from "../interceptors/run-interceptor.js";

const methods = servedServices.flatMap(({ service }) => service.methods);
const url = "https://api.example.org/problems";

describe("the error table", () => {
  const rows: readonly (readonly [ErrorCode, number, string, Code])[] = [
    ["INVALID_REQUEST", 400, "invalid-request", Code.InvalidArgument],
    ["INVALID_ACCESS_TOKEN", 401, "unauthorized", Code.Unauthenticated],
    ["INSUFFICIENT_SCOPE", 403, "forbidden", Code.PermissionDenied],
    ["RESOURCE_NOT_FOUND", 404, "not-found", Code.NotFound],
    ["METHOD_NOT_ALLOWED", 405, "method-not-allowed", Code.Unimplemented],
    ["REQUEST_TIMEOUT", 408, "request-timeout", Code.DeadlineExceeded],
    ["CONCURRENT_MODIFICATION", 409, "conflict", Code.FailedPrecondition],
    ["OPTION_EXPIRED", 410, "option-expired", Code.FailedPrecondition],
    ["VALIDATION_FAILED", 422, "validation", Code.InvalidArgument],
    ["RATE_LIMIT_EXCEEDED", 429, "rate-limit", Code.ResourceExhausted],
    ["HEADERS_TOO_LARGE", 431, "headers-too-large", Code.ResourceExhausted],
    ["INTERNAL_ERROR", 500, "internal-error", Code.Internal],
    ["SERVICE_UNAVAILABLE", 503, "service-unavailable", Code.Unavailable],
  ];

  test("has no code that is missing here", () => {
    expect(rows.map(([code]) => code)).toEqual(Object.keys(errorTable));
  });

  test.each(rows)("maps %s to status %d and slug %s", (code, status, slug, connectCode) => {
    const problem = JSON.parse(problemJson(problemOf(new CupoError(code), correlationId, url)));
    expect(problem).toEqual({ type: `${url}/${slug}`, title: expect.any(String), status, code, correlationId });
    expect(connectErrorOf(new CupoError(code), callWith(), url).code).toBe(connectCode);
  });
});

describe("the Connect code of a conflict depends on its reason", () => {
  test.each<[Code, readonly FieldErrorCode[]]>([
    [Code.Aborted, ["STALE_VERSION", "IDEMPOTENCY_IN_PROGRESS"]],
    [Code.AlreadyExists, ["DUPLICATE"]],
    [
      Code.FailedPrecondition,
      [
        "IDEMPOTENCY_KEY_REUSED",
        "STATE_NOT_ALLOWED",
        "SAME_SLOT",
        "PATIENT_NOT_ACTIVE",
        "SLOT_OCCUPIED",
        "CAPACITY_EXHAUSTED",
        "PATIENT_OVERLAP",
      ],
    ],
  ])("%i for %j", (connectCode, reasons) => {
    const conflicts = reasons.map((code) => conflict({ code, field: "phone", message: "so it is" }));
    expect(conflicts.map((error) => connectErrorOf(error, callWith(), url).code)).toEqual(
      reasons.map(() => connectCode),
    );
  });

  test("and no other error has codes by reason", () => {
    const duplicate = { code: "DUPLICATE", field: "practitionerIds[1]", message: "twice" } as const;
    expect(connectErrorOf(validationFailed([duplicate]), callWith(), url).code).toBe(Code.InvalidArgument);
  });
});

describe("a problem", () => {
  const items = [
    { code: "REQUIRED", field: "phone", message: "the field is required" },
    { code: "DUPLICATE", field: "practitionerIds[2]", message: "twice" },
  ] as const;

  test("has all items of a validation, in order", () => {
    const text = problemJson(problemOf(validationFailed(items), correlationId, url));
    expect(JSON.parse(text)).toEqual({
      type: `${url}/validation`,
      title: "Validation failed",
      status: 422,
      code: "VALIDATION_FAILED",
      correlationId,
      detail: "phone is required; 1 more.",
      errors: items,
    });
  });

  test("keeps an empty field name of an item", () => {
    const item = { code: "INVALID_TYPE", field: "", message: "the body must be an object" } as const;
    expect(JSON.parse(problemJson(problemOf(validationFailed([item]), correlationId, url))).errors).toEqual([item]);
  });

  test("omits members without a value", () => {
    const text = problemJson(problemOf(new CupoError("RATE_LIMIT_EXCEEDED"), correlationId, url));
    expect(text).not.toMatch(/detail|errors|instance/);
  });

  test("is the same over RPC, where the error itself says no more", () => {
    const error = connectErrorOf(conflict(items[1]), callWith(), url);
    const [detail] = error.findDetails(ProblemSchema);
    expect(detail).toEqual(
      fromJsonString(ProblemSchema, problemJson(problemOf(conflict(items[1]), correlationId, url))),
    );
    expect(error.rawMessage).toBe("practitionerIds[2]: twice.");
  });
});

describe("an error over RPC", () => {
  test("has the title if there is no detail", () => {
    expect(connectErrorOf(new CupoError("OPTION_EXPIRED"), callWith(), url).rawMessage).toBe("Option expired");
  });

  test("has the headers of the call and its own, which take precedence", () => {
    const call = callWith();
    call.responseHeaders["RateLimit"] = "r";
    call.responseHeaders["Retry-After"] = "9";
    const error = new CupoError("SERVICE_UNAVAILABLE", { headers: { "Retry-After": "1" } });
    expect([...connectErrorOf(error, call, url).metadata]).toEqual([
      ["ratelimit", "r"],
      ["retry-after", "1"],
    ]);
  });
});

describe("an unexpected error", () => {
  test.each([new TypeError("secret"), "secret", null])("is an internal error without details: %s", (thrown) => {
    const error = asCupoError(thrown);
    expect(error).toMatchObject({ code: "INTERNAL_ERROR", detail: undefined, errors: [], cause: thrown });
    expect(problemJson(problemOf(error, correlationId, url))).not.toContain("secret");
  });

  test("is not made of an expected error", () => {
    const error = notFound("gone");
    expect(asCupoError(error)).toBe(error);
  });
});

describe("the page of a problem type", () => {
  let base: string;
  let server: Server;

  beforeAll(async () => {
    const serve = serveResources(problemPages(servedServices), (_, response, { code, headers }) =>
      response.writeHead(errorTable[code].status, headers).end(),
    );
    server = createServer((request, response) => {
      if (!serve(request, response)) response.writeHead(418).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/problems`;
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each(Object.entries(errorTable))("explains %s", async (code, { slug, status, title }) => {
    const response = await fetch(`${base}/${slug}`);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    for (const text of [`<h1>${title}</h1>`, `<dd>${status}</dd>`, `<code>${code}</code>`, `(${slug})</title>`]) {
      expect(page).toContain(text);
    }
    expect(page).toMatch(/What it means<.*>[A-Z].+\.<.*\n.*What causes it<.*>[A-Z].+\.<.*\n.*What to do<.*>[A-Z].+\.</);
    expect(page).not.toMatch(/https?:|undefined|src=|href=/);
  });

  test("lists its error codes and the operations that return them", async () => {
    const page = await (await fetch(`${base}/conflict`)).text();
    expect(Array.from(page.matchAll(/<h3 id="(\w+)">/g), ([, code]) => code)).toEqual(
      (Object.keys(fieldCodes) as FieldErrorCode[]).filter((code) =>
        methods.some((method) => codesOf(method).CONCURRENT_MODIFICATION?.includes(code)),
      ),
    );
    const [, sameSlot] = page.split('<h3 id="SAME_SLOT">');
    expect(sameSlot).toMatch(
      /^<code>SAME_SLOT<[^]*?What it means<[^]*?<dt>Operations<\/dt><dd>RescheduleAppointment, operations of the clinic's API<\/dd>/,
    );
    const [, tooEarly] = page.split('<h3 id="TOO_EARLY">');
    expect(tooEarly).toMatch(/^[^]*?<dt>Operations<\/dt><dd>operations of the clinic's API<\/dd>/);
  });

  test("is linked from the list of all pages", async () => {
    const list = await (await fetch(base)).text();
    const links = Array.from(list.matchAll(/<a href="([^"]+)">/g), ([, path]) => path ?? "");
    expect(links).toEqual(Object.values(errorTable).map(({ slug }) => `problems/${slug}`));
    for (const link of links) expect((await fetch(new URL(link, base))).status).toBe(200);
  });

  test("answers HEAD without a body", async () => {
    const response = await fetch(`${base}/conflict`, { method: "HEAD" });
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
    expect(await response.text()).toBe("");
  });

  test.each(["/unknown", "/", "/conflict/", "/Conflict", "/__proto__", "/constructor"])(
    "does not exist at %s",
    async (path) => {
      expect((await fetch(`${base}${path}`)).status).toBe(418);
    },
  );

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("rejects %s", async (method) => {
    const response = await fetch(`${base}/conflict`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

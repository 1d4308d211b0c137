import {
  Code,
  ConnectError,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { problemJson } from "../src/errors/problem-json.js";
import { createRestHandler } from "../src/handler.js";
import type { Route } from "../src/routes/routes.js";
import { LibraryService } from "./gen/library/v1/library_pb.js";
import { libraryService } from "./support/library-service.js";
import { makeService } from "./support/make-service.js";
import { defaults, sendRaw, startServer } from "./support/start-server.js";

const json = { "content-type": "application/json" };
const refusing: Interceptor = () => () => Promise.reject(new Error("refused"));

describe("a success", () => {
  test("has the method's status, the message as JSON and the headers of each source", async () => {
    const interceptor: Interceptor = (next) => async (request) => {
      const response = await next(request);
      response.header.set("x-limit", "5");
      response.header.append("set-cookie", "a=1");
      response.header.append("set-cookie", "b=2");
      return response;
    };
    const { send } = await startServer({
      headerInterceptors: [interceptor],
      successStatus: ({ name }) => (name === "CreateBook" ? 201 : 200),
      responseHeaders: { "Cache-Control": "no-store", "X-Limit": "0" },
    });
    const { status, headers, text } = await send("POST", "/v1/shelves/a/books", {
      headers: json,
      body: '{"title":"é"}',
    });
    expect(status).toBe(201);
    expect(text).toBe('{"name":"shelves/a/books/1","title":"é","genre":"GENRE_UNSPECIFIED","tags":[]}');
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
      "cache-control": "no-store",
      "x-limit": "5",
      location: "/v1/shelves/a/books/1",
      "set-cookie": ["a=1", "b=2"],
    });
  });

  test("of status 204 has no body", async () => {
    const { send } = await startServer({ successStatus: () => 204 });
    const { status, headers, text } = await send("DELETE", "/v1/shelves/a/books/b");
    expect([status, text, headers["content-type"], headers["content-length"]]).toEqual([204, "", undefined, undefined]);
  });

  test.each([
    ["optText", "opt_text", '"x"'],
    ["a message", "child", '{"id":"y"'],
    ["an empty list", "numbers", "[]"],
    ["a bool", "flag", "false"],
    ["an absent scalar", "opt_i32", "null"],
    ["an absent message", "address", "null"],
    ["a wrapper", "wrapped_text", '"z"'],
    ["a struct", "struct", '{"a":1}'],
    ["a oneof member", "number", '"7"'],
    ["a timestamp", "at", '"2026-01-01T00:00:00.000Z"'],
  ])("with a response_body is only %s", async (_, responseBody, expected) => {
    const service = makeService({ name: "Get", rule: "POST /a", body: "*", responseBody });
    const { send } = await startServer({ services: [service] });
    const body =
      '{"optText":"x","child":{"id":"y"},"wrappedText":"z","struct":{"a":1},"number":7,"at":"2026-01-01T00:00:00Z"}';
    const { status, text } = await send("POST", "/a", { headers: json, body });
    expect([status, text.slice(0, expected.length)]).toEqual([200, expected]);
  });
});

describe("a path", () => {
  test.each([
    ["GET", "/nothing", 404, undefined],
    ["GET", "/v1/books/", 404, undefined],
    ["POST", "/v1/kinds?x=%zz", 400, undefined],
    ["GET", "/v1/kinds", 405, "POST"],
    ["OPTIONS", "/v1/kinds", 405, "POST"],
    ["HEAD", "/v1/books/x", 405, "GET"],
    ["TRACE", "/v1/shelves/a/books/b", 405, "DELETE, GET, PATCH"],
    ["OPTIONS", "*", 404, undefined],
  ])("%s %s is %i, allowing %s", async (method, path, status, allow) => {
    const { send } = await startServer();
    const answer = await send(method, path, { headers: json, body: "" });
    expect([answer.status, answer.headers["allow"]]).toEqual([status, allow]);
    expect(answer.text === "").toBe(method === "HEAD");
  });

  test("and a method are checked before interceptors, and method overrides are ignored", async () => {
    const { send } = await startServer({ headerInterceptors: [refusing] });
    const override = { "x-http-method-override": "POST", ...json };
    expect((await send("GET", "/nothing")).status).toBe(404);
    expect((await send("GET", "/v1/kinds?_method=POST", { headers: override })).status).toBe(405);
    expect((await send("POST", "/v1/kinds", { headers: json, body: "{}" })).status).toBe(500);
  });
});

describe("interceptors", () => {
  test.each([
    ["a bad path", "GET", "/v1/books/%zz", ""],
    ["a bad query", "GET", "/v1/books/x?nope=1", ""],
    ["a wrong media type", "POST", "/v1/kinds", "content-type: text/plain\r\n"],
    ["a body that is too long", "POST", "/v1/kinds", "content-length: 5000\r\n"],
    ["a body that never comes", "POST", "/v1/kinds", "content-length: 10\r\n"],
  ])("for headers run before %s is detected", async (_, method, path, header) => {
    const { port } = await startServer({ headerInterceptors: [refusing] });
    const answer = await sendRaw(port, `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 500 [^]*Error: refused/);
  });

  test("see the call in order, with its headers and values, and only the later ones see the message", async () => {
    const key = createContextKey("", { description: "test" });
    const seen: string[] = [];
    const note =
      (label: string): Interceptor =>
      (next) =>
      async (request) => {
        const { id } = request.message as unknown as { id: string };
        seen.push(
          `${label} ${request.contextValues.get(key)} ${request.header.get("authorization")} ${request.method.name} "${id}"`,
        );
        request.contextValues.set(key, label);
        return next(request);
      };
    const implementation = {
      queryKinds: (request: { id: string }, { values, requestMethod, protocolName, url }: HandlerContext) => {
        seen.push(`impl ${values.get(key)} ${requestMethod} ${protocolName} ${url} "${request.id}"`);
        return request;
      },
    };
    const { send } = await startServer({
      services: [{ service: LibraryService, implementation }],
      contextValues: (request) => createContextValues().set(key, `open ${request.method}`),
      headerInterceptors: [note("h1"), note("h2")],
      interceptors: [note("m1"), note("m2")],
    });
    await send("GET", "/v1/kinds/x?flag=true", { headers: { authorization: "a" } });
    expect(seen).toEqual([
      'h1 open GET a QueryKinds ""',
      'h2 h1 a QueryKinds ""',
      'm1 h2 a QueryKinds "x"',
      'm2 m1 a QueryKinds "x"',
      'impl m2 GET rest /v1/kinds/x?flag=true "x"',
    ]);
  });

  test("see the headers of requestHeader instead of the request's", async () => {
    const seen: (string | null)[] = [];
    const look: Interceptor = (next) => (request) => {
      seen.push(request.header.get("authorization"), request.header.get("x-for"));
      return next(request);
    };
    const requestHeader = () => new Headers({ "x-for": "interceptors" });
    const { send } = await startServer({ headerInterceptors: [look], requestHeader });
    await send("GET", "/v1/books/x", { headers: { authorization: "a" } });
    expect(seen).toEqual([null, "interceptors"]);
  });

  test("see a header that was sent twice as a combined value", async () => {
    let authorization: string | null = "";
    const look: Interceptor = (next) => (request) => {
      authorization = request.header.get("authorization");
      return next(request);
    };
    const { send } = await startServer({ headerInterceptors: [look] });
    await send("GET", "/v1/books/x", { headers: { authorization: ["a", "b"] } });
    expect(authorization).toBe("a, b");
  });
});

describe("an error", () => {
  test("is rendered with the values and the route of its request", async () => {
    const key = createContextKey("");
    const rendered: [unknown, string, Route | undefined][] = [];
    const { send } = await startServer({
      responseHeaders: { "cache-control": "no-store" },
      interceptors: [refusing],
      contextValues: (request) => createContextValues().set(key, request.url ?? ""),
      errors: (error, { values, route }) => {
        rendered.push([(error as Error).message, values.get(key), route]);
        return { status: 418, headers: { "x-teapot": "1" }, body: new Uint8Array([65]) };
      },
    });
    const known = await send("GET", "/v1/books/x");
    const unknown = await send("GET", "/nothing");
    expect([known.status, known.text, known.headers["x-teapot"], known.headers["cache-control"]]).toEqual([
      418,
      "A",
      "1",
      "no-store",
    ]);
    expect(unknown.status).toBe(418);
    expect(rendered).toEqual([
      ["refused", "/v1/books/x", expect.objectContaining({ httpMethod: "GET", pathFields: ["name"] })],
      ["NOT_FOUND: No resource exists at this path.", "/nothing", undefined],
    ]);
  });

  test("that is unforeseen drops the headers that were set for a success", async () => {
    const implementation = {
      getBook: (_: unknown, context: { responseHeader: Headers }) => {
        context.responseHeader.set("etag", "x");
        throw new Error("late");
      },
    };
    const { send } = await startServer({ services: [{ service: LibraryService, implementation }] });
    const { status, headers } = await send("GET", "/v1/books/x");
    expect([status, headers["etag"]]).toEqual([500, undefined]);
  });

  test("that is a ConnectError has the headers that were set before it", async () => {
    const implementation = {
      getBook: (_: unknown, { responseHeader }: HandlerContext) => {
        responseHeader.set("retry-after", "7");
        responseHeader.set("x-limit", "5");
        responseHeader.append("set-cookie", "a=1");
        responseHeader.append("set-cookie", "b=2");
        responseHeader.set("content-language", "es");
        throw new ConnectError("no", Code.Unavailable, { "x-limit": "0" });
      },
    };
    const { send } = await startServer({
      services: [{ service: LibraryService, implementation }],
      responseHeaders: { "cache-control": "no-store", "x-limit": "9" },
      errors: problemJson(),
    });
    const { status, headers } = await send("GET", "/v1/books/x");
    expect([status, headers]).toMatchObject([
      503,
      { "retry-after": "7", "x-limit": "0", "set-cookie": ["a=1", "b=2"], "cache-control": "no-store" },
    ]);
    expect(headers).not.toHaveProperty("content-language");
  });

  test("is returned for a message that cannot be written", async () => {
    const implementation = { getBook: () => ({ publishedAt: { seconds: 999999999999n, nanos: 0 } }) };
    const { send } = await startServer({ services: [{ service: LibraryService, implementation }] });
    expect(await send("GET", "/v1/books/x")).toMatchObject({ status: 500, text: expect.stringContaining("Timestamp") });
  });

  test.each([
    [
      "the renderer of errors throws",
      {
        headerInterceptors: [refusing],
        errors: () => {
          throw new Error("again");
        },
      },
    ],
    [
      "openValues throws",
      {
        contextValues: () => {
          throw new Error("early");
        },
      },
    ],
    [
      "the renderer of errors returns an invalid header",
      {
        headerInterceptors: [refusing],
        errors: () => ({ status: 400, headers: { "x-a": "1", "x-b": "\n" }, body: "" }),
      },
    ],
    [
      "the renderer of errors returns an invalid status",
      { headerInterceptors: [refusing], errors: () => ({ status: 4000, headers: {}, body: "" }) },
    ],
  ])("is 500 without content if %s", async (_, options) => {
    const { send } = await startServer({ ...options, responseHeaders: { "cache-control": "no-store" } });
    const { status, headers, text } = await send("GET", "/v1/books/x");
    expect([status, text, headers["cache-control"], headers["x-a"]]).toEqual([500, "", "no-store", undefined]);
  });
});

test("a method whose status is not a success is rejected at the start", () => {
  const services = [{ service: LibraryService, implementation: libraryService }];
  expect(() => createRestHandler({ ...defaults, services, successStatus: () => 404 })).toThrow(
    "library.v1.LibraryService/GetBook: 404 is not a success status (200 to 299)",
  );
});

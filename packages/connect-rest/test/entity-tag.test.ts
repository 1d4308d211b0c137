import { createHash } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { TaggedAnswer } from "../src/entity-tag.js";
import { createRestHandler, type RestHandlerOptions } from "../src/handler.js";
import { restService } from "../src/routes/rest-service.js";
import { LibraryService } from "./gen/library/v1/library_pb.js";
import { call, requestOf } from "./support/call-handler.js";
import { libraryService } from "./support/library-service.js";
import { startServer } from "./support/start-server.js";

const url = "/v1/books/x";
const tagged = (tag: string): RestHandlerOptions => ({
  services: [restService(LibraryService, libraryService)],
  responseHeaders: { "cache-control": "no-store" },
  entityTag: ({ name }) => (name === "ListBooks" ? undefined : () => tag),
});
const ifNoneMatch = (value: string) => ({ headers: { "If-None-Match": value } });

describe("the answer to a GET", () => {
  test("has the tag that the option makes of its message and its bytes", async () => {
    const entityTag =
      () =>
      ({ message, body }: TaggedAnswer) =>
        `"${message.$typeName} ${createHash("sha256").update(body).digest("hex")}"`.replace(" ", "-");
    const { status, headers, text } = await call({ ...tagged(""), entityTag }, "GET", url);
    const hash = createHash("sha256").update(text).digest("hex");
    expect([status, headers["etag"]]).toEqual([200, `"library.v1.Book-${hash}"`]);
  });

  test.each([
    [`"a"`, `"a"`],
    [`"a"`, `W/"a"`],
    [`W/"a"`, `"a"`],
    [`W/"a"`, `W/"a"`],
    [`"a"`, `"b", "a"`],
    [`"a"`, `W/"b",W/"a" , "c"`],
    [`"a,b"`, `"x", "a,b"`],
    [`""`, `""`],
    [`"a"`, "*"],
    [`"a"`, " * "],
  ])("with the tag %s is 304 without a body for If-None-Match: %s", async (tag, value) => {
    const { status, headers, text } = await call(tagged(tag), "GET", url, ifNoneMatch(value));
    expect([status, text, headers]).toEqual([304, "", { "cache-control": "no-store", etag: tag }]);
  });

  test.each([[`"b"`], ["a"], [`"A"`], [`"a b"`], [`w/"b"`], [`"b", *`], ["**"], [""]])(
    'with the tag "a" is whole for If-None-Match: %s',
    async (value) => {
      const { status, headers, text } = await call(tagged(`"a"`), "GET", url, ifNoneMatch(value));
      expect([status, headers["etag"], text.length > 10]).toEqual([200, `"a"`, true]);
    },
  );

  test("reads every If-None-Match header", async () => {
    const request = requestOf("GET", url, {});
    const rawHeaders = ["If-None-Match", `"b"`, "if-none-match", `"a"`];
    const answer = await createRestHandler(tagged(`"a"`)).handle({ ...request, rawHeaders });
    expect(answer?.status).toBe(304);
  });

  test("runs interceptors and implementation before it is 304, and keeps the headers that they set", async () => {
    const seen: string[] = [];
    const count: Interceptor = (next) => async (request) => {
      const response = await next(request);
      response.header.set("x-limit", "5");
      seen.push(request.method.name);
      return response;
    };
    const answer = await call({ ...tagged(`"a"`), interceptors: [count] }, "GET", url, ifNoneMatch(`"a"`));
    expect([answer.status, answer.headers["x-limit"], seen]).toEqual([304, "5", ["GetBook"]]);
  });

  test("that fails has no tag and is never 304", async () => {
    const refuse: Interceptor = () => () => Promise.reject(new Error("refused"));
    const answer = await call({ ...tagged(`"a"`), interceptors: [refuse] }, "GET", url, ifNoneMatch("*"));
    expect([answer.status, answer.headers["etag"]]).toEqual([500, undefined]);
  });

  test.each(["a", `"a`, `"a"b"`, `"a b"`, `w/"a"`, ""])("is 500 for a tag that is none: %s", async (tag) => {
    expect((await call(tagged(tag), "GET", url)).status).toBe(500);
  });

  test("is sent by Node without content, and keeps the connection", async () => {
    const { send } = await startServer(tagged(`"a"`));
    const known = await send("GET", url, { headers: { "if-none-match": `"a"` } });
    expect([known.status, known.text, known.headers["etag"], known.headers["content-type"]]).toEqual([
      304,
      "",
      `"a"`,
      undefined,
    ]);
    expect((await send("GET", url)).status).toBe(200);
  });
});

test.each([
  ["a method for which the option makes none", "GET", "/v1/shelves/a/books", undefined],
  ["a request other than GET", "POST", "/v1/shelves/a/books", "{}"],
])("%s has no tag", async (_, method, path, body) => {
  const headers = { "If-None-Match": "*", ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  const answer = await call(tagged(`"a"`), method, path, { headers, ...(body === undefined ? {} : { body }) });
  expect([answer.status, answer.headers["etag"]]).toEqual([200, undefined]);
});

test("the option is asked once for each route of GET, when the handler is created", () => {
  const asked: string[] = [];
  const entityTag = ({ name }: { readonly name: string }) => void asked.push(name);
  createRestHandler({ ...tagged(""), entityTag });
  expect(asked.filter((name) => name.startsWith("GetBook"))).toEqual(["GetBook", "GetBook"]);
  expect(asked).not.toContain("CreateBook");
});

import { describe, expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import { createNeighbourhood } from "../../src/routes/route-neighbourhood.js";
import { createRouteTable, matchRoute } from "../../src/routes/route-table.js";
import { makeRoutes, makeService } from "../support/make-service.js";

const refused = "the REST routes cannot be served:\n  ";

describe("matching", () => {
  const rules = [
    "GET /books",
    "POST /books",
    "GET /books/search",
    "GET /books/{id}",
    "PATCH /books/{id}",
    "POST /books/{id}:lend",
    "POST /books/{id}:give-back",
    "GET /books/{id}/pages/*",
    "GET /books/new/pages/cover",
    "GET /files/{id=**}",
    "DELETE /files/{id=a/**}:purge",
    "GET /caf%C3%A9",
    "* /any",
    "GET /any",
    "PUT /deep/**",
    "PUT /deep/*/end",
  ];
  const table = createRouteTable("/api/v1", makeRoutes(...rules).service.methods);

  test.each([
    ["GET", "/books", "GET /books"],
    ["POST", "/books", "POST /books"],
    ["GET", "/books/search", "GET /books/search"],
    ["GET", "/books/%73earch", "GET /books/search"],
    ["PATCH", "/books/search", "PATCH /books/{id} search"],
    ["GET", "/books/1", "GET /books/{id} 1"],
    ["GET", "/books/a%2Fb", "GET /books/{id} a%2Fb"],
    ["GET", "/books/%zz", "GET /books/{id} %zz"],
    ["GET", "/books/a:b", "GET /books/{id} a:b"],
    ["GET", "/books/1:lend", "GET /books/{id} 1:lend"],
    ["POST", "/books/1:lend", "POST /books/{id}:lend 1"],
    ["POST", "/books/1:l%65nd", "POST /books/{id}:lend 1"],
    ["POST", "/books/urn:x:give-back", "POST /books/{id}:give-back urn:x"],
    ["POST", "/books/1%3Alend", "405 GET, PATCH"],
    ["POST", "/books/1:other", "405 GET, PATCH"],
    ["DELETE", "/books/1:lend", "405 GET, PATCH, POST"],
    ["POST", "/books/:lend", "405 GET, PATCH"],
    ["GET", "/books/1/pages/2", "GET /books/{id}/pages/* 1 2"],
    ["GET", "/books/new/pages/cover", "GET /books/new/pages/cover"],
    ["GET", "/books/new/pages/2", "GET /books/{id}/pages/* new 2"],
    ["GET", "/files", "GET /files/{id=**}"],
    ["GET", "/files/a/b", "GET /files/{id=**} a b"],
    ["DELETE", "/files/a:purge", "405 GET"],
    ["DELETE", "/files/a/b/c:purge", "DELETE /files/{id=a/**}:purge b c"],
    ["DELETE", "/files/b:purge", "405 GET"],
    ["GET", "/caf%C3%A9", "GET /caf%C3%A9"],
    ["GET", "/caf%c3%a9", "GET /caf%C3%A9"],
    ["GET", "/any", "GET /any"],
    ["BREW", "/any", "* /any"],
    ["PUT", "/deep/x/end", "PUT /deep/*/end x"],
    ["PUT", "/deep/x/y", "PUT /deep/** x y"],
    ["GET", "/deep/x", "405 PUT"],
    ["PUT", "/books", "405 GET, POST"],
    ["HEAD", "/books", "405 GET, POST"],
    ["get", "/books", "405 GET, POST"],
    ["GET", "/books/", "404"],
    ["GET", "//books", "404"],
    ["GET", "/books//1", "404"],
    ["GET", "/Books", "404"],
    ["GET", "/books/1/2", "404"],
    ["GET", "/..", "404"],
    ["GET", "", "404"],
  ])("%s %s is %s", (method, path, expected) => {
    expect(describeOutcome(method, `/api/v1${path}`)).toBe(expected);
  });

  test.each(["", "/", "*", "books", "/books", "/api/v1", "/api/v1/", "/api/v2/books", "api/v1/books"])(
    "%s matches no route",
    (path) => {
      expect(matchRoute(table, "GET", path)).toBeUndefined();
    },
  );

  function describeOutcome(method: string, path: string): string {
    const outcome = matchRoute(table, method, path);
    if (outcome === undefined) return "404";
    if ("allow" in outcome) return `405 ${outcome.allow.join(", ")}`;
    const { route, segments } = outcome;
    const taken = route.template.segments.flatMap(({ kind }, i) =>
      kind === "literal" ? [] : segments.slice(i, kind === "rest" ? undefined : i + 1),
    );
    return [`${route.httpMethod} ${route.template.source.replace("/api/v1", "")}`, ...taken].join(" ");
  }
});

describe("two routes", () => {
  test.each([
    ["GET /a/{id}", "GET /a/{opt_text}"],
    ["GET /a/{id}", "GET /a/*"],
    ["GET /a", "GET /a"],
    ["GET /a/%62", "GET /a/b"],
    ["GET /a/*/c", "GET /a/b/*"],
    ["GET /{id=**}", "GET /{opt_text=**}"],
    ["GET /a/**", "GET /*/b"],
    ["GET /a/**:v", "GET /*/b:v"],
    ["GET /a/{id}:v", "GET /a/*:v"],
    ["GET /*/b:v", "GET /a/*"],
    ["* /a/b", "GET /a/*"],
    ["* /a", "* /a"],
    ["PUT /**", "* /*/**"],
    ["GET /a%3Av", "GET /*:v"],
    ["GET /a%3Av", "* /a:v"],
  ])("%s and %s conflict", (first, second) => {
    const problem = `made.proto: test.Made/M1: ${second} and ${first} of test.Made/M0 (made.proto) match the same requests and neither is narrower`;
    expect(() => createRouteTable("", makeRoutes(first, second).service.methods)).toThrow(new Error(refused + problem));
  });

  test.each([
    ["GET /a/{id}", "POST /a/{id}"],
    ["GET /a/b", "GET /a/{id}"],
    ["GET /a/{id}", "GET /a/{id}/b"],
    ["GET /a/{id}:v", "GET /a/{id}:w"],
    ["GET /a/{id}:v", "GET /a/{id}"],
    ["GET /a/b:v", "GET /a/{id}:v"],
    ["GET /a/b:v", "GET /a/b"],
    ["GET /a/*", "GET /a/**"],
    ["GET /a", "GET /a/**"],
    ["GET /a/**", "GET /**"],
    ["GET /a/**:v", "GET /a/**"],
    ["GET /*", "GET /a/**:v"],
    ["* /a", "GET /a"],
    ["* /a/*", "GET /a/b"],
    ["GET /a/b", "GET /c/{id}"],
    ["GET /a%3Av", "GET /a:v"],
    ["GET /*/**", "GET /**"],
  ])("%s and %s do not", (first, second) => {
    expect(createRouteTable("", makeRoutes(first, second).service.methods).routes).toHaveLength(2);
  });
});

describe("a table is rejected", () => {
  test.each([
    ["no pattern", { rule: "" }, "the http rule has no pattern"],
    ["a bad template", { rule: "GET a" }, 'path template "a", character 1: expected "/", found "a"'],
    ["a bad method", { rule: "get /a" }, '"get" is not an HTTP method'],
    ["an unknown path field", { rule: "GET /{nope}" }, 'library.v1.Kinds has no field "nope"'],
    ["a path field by its JSON name", { rule: "GET /{optText}" }, 'library.v1.Kinds has no field "optText"'],
    ["an unknown nested path field", { rule: "GET /{child.nope}" }, 'library.v1.Kinds has no field "nope"'],
    [
      "a path through a scalar",
      { rule: "GET /{id.x}" },
      "the path field id.x passes through a field that is not a singular message with members",
    ],
    [
      "a path through a list",
      { rule: "GET /{addresses.city}" },
      "the path field addresses.city passes through a field that is not a singular message with members",
    ],
    [
      "a path through a timestamp",
      { rule: "GET /{at.nanos}" },
      "the path field at.nanos passes through a field that is not a singular message with members",
    ],
    ["a repeated field", { rule: "GET /{numbers}" }, "the path field numbers must be one scalar or enum value"],
    ["a map", { rule: "GET /{counts}" }, "the path field counts must be one scalar or enum value"],
    ["a message", { rule: "GET /{child}" }, "the path field child must be one scalar or enum value"],
    ["a field twice", { rule: "GET /{id}/{id}" }, "the path has the field id more than once"],
    ["a nested field twice", { rule: "GET /{child.id}/{child.id}" }, "the path has the field child.id more than once"],
    ["an unknown body", { rule: "POST /a", body: "nope" }, 'library.v1.Kinds has no field "nope"'],
    ["a nested body", { rule: "POST /a", body: "child.id" }, 'library.v1.Kinds has no field "child.id"'],
    ["a body in the path", { rule: "POST /{id}", body: "id" }, "the field id is in the path and in the body"],
    ["a GET with a body", { rule: "GET /a", body: "*" }, "a GET binding cannot have a body"],
    ["an unknown response body", { rule: "GET /a", responseBody: "nope" }, 'library.v1.Kinds has no field "nope"'],
    [
      "nested additional bindings",
      { rule: "GET /a", additional: [{ rule: "GET /b", additional: [{ rule: "GET /c" }] }] },
      "additional_bindings cannot have additional_bindings",
    ],
    [
      "a bad additional binding",
      { rule: "GET /a", additional: [{ rule: "GET /{nope}" }] },
      'library.v1.Kinds has no field "nope"',
    ],
    [
      "a client stream",
      { rule: "GET /a", clientStreaming: true },
      "a client streaming method has no REST form; its request is a stream",
    ],
    [
      "a stream in both directions",
      { rule: "GET /a", clientStreaming: true, serverStreaming: true },
      "a bidi streaming method has no REST form; its request is a stream",
    ],
    [
      "Any",
      { rule: "POST /a", input: ".test.WithAny" },
      "test.WithAny uses google.protobuf.Any, which needs a registry of types",
    ],
    [
      "Any in the answer",
      { rule: "POST /a", output: ".test.WithAny" },
      "test.WithAny uses google.protobuf.Any, which needs a registry of types",
    ],
    [
      "a Struct as the body",
      { rule: "POST /a", body: "*", input: ".google.protobuf.Struct" },
      "google.protobuf.Struct cannot be the whole body of a request",
    ],
  ])("for %s", (_, method, problem) => {
    const make = () => createRouteTable("", makeService({ name: "Bad", ...method }).service.methods);
    expect(make).toThrow(new Error(`${refused}made.proto: test.Made/Bad: ${problem}`));
  });

  test("with all its problems in one message", () => {
    const service = makeService(
      { name: "A", rule: "GET /{nope}" },
      { name: "B", rule: "GET /b" },
      { name: "C", rule: "GET /b" },
    );
    expect(() => createRouteTable("", service.service.methods)).toThrow(
      `${refused}made.proto: test.Made/A: library.v1.Kinds has no field "nope"\n  made.proto: test.Made/C: GET /b and GET /b of test.Made/B (made.proto) match`,
    );
  });

  test.each(["api", "/api/", "/{id}", "/*", "/a:v", "/"])("for the base path %s", (basePath) => {
    expect(() => createRouteTable(basePath, [])).toThrow(/path/);
  });
});

test("the root is a path without segments, which only ** matches", () => {
  const table = createRouteTable(
    "",
    makeRoutes("GET /{id=**}", "GET /*/**", "PUT /{id}/**", "PUT /**:v").service.methods,
  );
  expect(matchRoute(table, "GET", "/")).toMatchObject({ route: { template: { source: "/{id=**}" } }, segments: [] });
  expect(matchRoute(table, "GET", "/a")).toMatchObject({ route: { template: { source: "/*/**" } }, segments: ["a"] });
  expect(matchRoute(table, "PUT", "/")).toEqual({ allow: ["GET"] });
  expect(matchRoute(createRouteTable("/api", makeRoutes("GET /**").service.methods), "GET", "/")).toBeUndefined();
});

describe("reserved characters are percent-encoded in a literal", () => {
  const rules = ["GET /a%2Fb", "GET /c%3Ad", "PUT /c:d", "GET /%7Be%7D", "GET /%2A%2A/f", "GET /g%3Fh%23i%25"];
  const table = createRouteTable("", makeRoutes(...rules, "POST /%40").service.methods);

  test.each([
    ["GET", "/a%2Fb", "/a%2Fb"],
    ["GET", "/a%2fb", "/a%2Fb"],
    ["GET", "/a/b", undefined],
    ["GET", "/c%3Ad", "/c%3Ad"],
    ["GET", "/c:d", "/c%3Ad"],
    ["PUT", "/c:d", "/c:d"],
    ["GET", "/%7be%7d", "/%7Be%7D"],
    ["GET", "/**/f", "/%2A%2A/f"],
    ["GET", "/x/f", undefined],
    ["GET", "/g%3Fh%23i%25", "/g%3Fh%23i%25"],
    ["POST", "/@", "/%40"],
    ["POST", "/%40", "/%40"],
  ])("%s %s", (method, path, source) => {
    const outcome = matchRoute(table, method, path);
    expect(outcome && "route" in outcome ? outcome.route.template.source : undefined).toBe(source);
  });
});

describe("a table of many routes", () => {
  const things = Array.from({ length: 4000 }, (_, index) => `GET /v1/things${index}/{id}`);

  test("is built by comparing only neighbours", () => {
    const { near, add } = createNeighbourhood();
    const { routes } = createRouteTable(
      "",
      makeRoutes(...things, "GET /v1/{id}/**", "GET /v1/things7/*/parts").service.methods,
    );
    const looks = routes.map((route) => {
      const count = near(route).length;
      add(route);
      return count;
    });
    expect(looks).toEqual([...things.map(() => 0), 4000, 1]);
  });

  test.each([
    [100, /^[^\n]*(?:\n.*neither is narrower){100}$/],
    [101, /^[^\n]*(?:\n.*neither is narrower){100}\n {2}only the first 100 conflicts are listed$/],
  ])("of %i conflicts reports at most a hundred", (count, message) => {
    const rules = things.slice(0, count).flatMap((rule) => [rule, rule.replace("{id}", "{opt_text}")]);
    expect(() => createRouteTable("", makeRoutes(...rules).service.methods)).toThrow(message);
  });
});

test("methods without an implementation have no route", () => {
  const { service } = makeRoutes("GET /a", "GET /b");
  const { routes } = createRestHandler({ services: [{ service, implementation: { m1: () => ({}) } }] });
  expect(routes.map(({ method }) => method.name)).toEqual(["M1"]);
});

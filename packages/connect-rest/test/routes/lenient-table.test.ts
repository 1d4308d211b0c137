import { describe, expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import type { RouteProblem } from "../../src/routes/route-problem.js";
import { createRouteTable, matchRoute } from "../../src/routes/route-table.js";
import { makeRoutes, makeService } from "../support/make-service.js";

describe("with onInvalidRoute", () => {
  const service = makeService(
    { name: "Good", rule: "GET /good" },
    { name: "Field", rule: "GET /{nope}", additional: [{ rule: "GET /also-good" }, { rule: "GET bad" }] },
    { name: "Nested", rule: "GET /a", additional: [{ rule: "GET /b", additional: [{ rule: "GET /c" }] }] },
    { name: "Any", rule: "POST /any", input: ".test.WithAny" },
    { name: "Client", rule: "POST /client", clientStreaming: true },
  );

  test("only the bindings that cannot be served are left out, and each is reported", () => {
    const problems: RouteProblem[] = [];
    const { routes } = createRestHandler({ services: [service], onInvalidRoute: (each) => problems.push(each) });
    expect(routes.map(({ template }) => template.source)).toEqual(["/good", "/also-good"]);
    expect(problems).toEqual([
      problem("Field", "GET /{nope}", 'library.v1.Kinds has no field "nope"'),
      problem("Field", "GET bad", 'path template "bad", character 1: expected "/", found "b"'),
      problem("Nested", "", "additional_bindings cannot have additional_bindings"),
      problem("Any", "POST /any", "test.WithAny uses google.protobuf.Any, which needs a registry of types"),
      problem("Client", "POST /client", "a client streaming method has no REST form; its request is a stream"),
    ]);
  });

  test("a conflict is still an error", () => {
    const { methods } = makeRoutes("GET /a/{id}", "GET /{id}/b").service;
    expect(() => createRouteTable("", methods, { onInvalidRoute: () => {} })).toThrow("neither is narrower");
  });
});

describe("with onConflict", () => {
  const rules = [
    "GET /a/*/c",
    "GET /a/b/*",
    "GET /x/{id}",
    "GET /x/{opt_text}",
    "* /y/z",
    "GET /y/*",
    "GET /*:v",
    "GET /q%3Av",
  ];
  const problems: RouteProblem[] = [];
  const table = createRouteTable("", makeRoutes(...rules).service.methods, {
    onConflict: (each) => problems.push(each),
  });

  test("each pair is reported", () => {
    expect(problems.map(({ method, binding }) => `${method} ${binding}`)).toEqual([
      "test.Made/M1 GET /a/b/*",
      "test.Made/M3 GET /x/{opt_text}",
      "test.Made/M5 GET /y/*",
      "test.Made/M7 GET /q%3Av",
    ]);
    expect(problems[0]).toEqual({
      file: "made.proto",
      method: "test.Made/M1",
      binding: "GET /a/b/*",
      message: "GET /a/b/* and GET /a/*/c of test.Made/M0 (made.proto) match the same requests and neither is narrower",
    });
  });

  test.each([
    ["GET", "/a/b/c", "GET /a/b/*"],
    ["GET", "/a/x/c", "GET /a/*/c"],
    ["GET", "/a/b/x", "GET /a/b/*"],
    ["GET", "/x/1", "GET /x/{id}"],
    ["GET", "/y/z", "* /y/z"],
    ["PUT", "/y/z", "* /y/z"],
    ["GET", "/y/x", "GET /y/*"],
    ["GET", "/q:v", "GET /*:v"],
    ["GET", "/q%3Av", "GET /q%3Av"],
  ])("%s %s goes to %s: the leftmost literal, else the first", (method, path, expected) => {
    const outcome = matchRoute(table, method, path);
    const route = outcome !== undefined && "route" in outcome ? outcome.route : undefined;
    expect(`${route?.httpMethod} ${route?.template.source}`).toBe(expected);
  });

  test("a route that no request reaches is not in the table", () => {
    expect(table.routes.map(({ template }) => template.source)).not.toContain("/x/{opt_text}");
    expect(table.routes).toHaveLength(rules.length - 1);
  });

  test("an invalid route is still an error", () => {
    const { methods } = makeRoutes("GET /{nope}").service;
    expect(() => createRouteTable("", methods, { onConflict: () => {} })).toThrow('has no field "nope"');
  });
});

describe("the template /", () => {
  test("is the path /, and narrower than /**", () => {
    const table = createRouteTable("", makeRoutes("GET /", "GET /**", "POST /*").service.methods);
    expect(sourceOf(matchRoute(table, "GET", "/"))).toBe("/");
    expect(sourceOf(matchRoute(table, "GET", "/a"))).toBe("/**");
    expect(matchRoute(table, "POST", "/")).toEqual({ allow: ["GET"] });
  });

  test("under a base path is the base path", () => {
    const table = createRouteTable("/api/v1", makeRoutes("GET /").service.methods);
    expect(sourceOf(matchRoute(table, "GET", "/api/v1"))).toBe("/api/v1");
    for (const path of ["/", "/api", "/api/v1/"]) expect(matchRoute(table, "GET", path)).toBeUndefined();
  });

  test("conflicts with itself", () => {
    expect(() => createRouteTable("", makeRoutes("GET /", "GET /").service.methods)).toThrow("neither is narrower");
  });
});

function problem(method: string, binding: string, message: string): RouteProblem {
  return { file: "made.proto", method: `test.Made/${method}`, binding, message };
}

function sourceOf(outcome: ReturnType<typeof matchRoute>): string | undefined {
  return outcome !== undefined && "route" in outcome ? outcome.route.template.source : undefined;
}

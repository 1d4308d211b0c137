import { describe, expect, test } from "vitest";
import type { HttpRuleJson } from "../../src/routes/outside-rules.js";
import { createRouteTable } from "../../src/routes/route-table.js";
import { MediaService } from "../gen/library/v1/media_pb.js";
import { call } from "../support/call-handler.js";
import { makeRoutes } from "../support/make-service.js";
import { mediaOptions, registry } from "../support/media-service.js";

const bare = "library.v1.MediaService.Bare";

describe("a rule from outside", () => {
  test("gives a method without an option its routes", () => {
    const rules = [
      {
        selector: bare,
        put: "/v1/{name}",
        body: "*",
        response_body: "size",
        additional_bindings: [{ custom: { kind: "BREW", path: "/v1/{name}:brew" } }],
      },
    ];
    expect(routesOf(rules)).toEqual(["PUT /v1/{name}", "BREW /v1/{name}:brew"]);
    const { responseBody } = createRouteTable("", [MediaService.method.bare], { rules }).routes[0] ?? {};
    expect(responseBody?.name).toBe("size");
  });

  test("replaces the option of a method", () => {
    const { methods } = makeRoutes("GET /from-option", "GET /other").service;
    const rules = [{ selector: "test.Made.M0", post: "/from-outside" }];
    expect(shown(createRouteTable("", methods, { rules }).routes)).toEqual(["POST /from-outside", "GET /other"]);
  });

  test("counts if it is the last one for its method", () => {
    expect(
      routesOf([
        { selector: bare, get: "/a" },
        { selector: bare, get: "/b" },
      ]),
    ).toEqual(["GET /b"]);
  });

  test("for a service that is not served is ignored", () => {
    expect(
      routesOf([{ selector: "google.longrunning.Operations.GetOperation", get: "/v1/{name=operations/*}" }]),
    ).toEqual([]);
  });

  test("is served", async () => {
    const rules = [{ selector: bare, get: "/bare/{name}" }];
    const { status, text } = await call({ ...mediaOptions, rules }, "GET", "/bare/x");
    expect([status, JSON.parse(text)]).toMatchObject([200, { name: "x" }]);
  });

  test.each<[string, HttpRuleJson, string]>([
    [
      "for an unknown method",
      { selector: "library.v1.MediaService.Bear", get: "/a" },
      "the HTTP rule for library.v1.MediaService.Bear: library/v1/media.proto has no such method",
    ],
    [
      "for all methods",
      { selector: "library.v1.MediaService.*", get: "/a" },
      'the HTTP rule for "library.v1.MediaService.*" must select one method by its full name',
    ],
    ["without a selector", { selector: "" }, 'the HTTP rule for "" must select one method by its full name'],
    [
      "without a pattern",
      { selector: bare },
      "library/v1/media.proto: library.v1.MediaService/Bare: the http rule has no pattern",
    ],
    [
      "with an unknown field",
      { selector: bare, get: "/{nope}" },
      'library/v1/media.proto: library.v1.MediaService/Bare: library.v1.MediaRequest has no field "nope"',
    ],
  ])("%s is refused", (_, rule, problem) => {
    expect(() => routesOf([rule])).toThrow(problem);
  });

  test("with an unknown member is refused", () => {
    const rule = { selector: bare, fetch: "/a" } as HttpRuleJson;
    expect(() => routesOf([rule])).toThrow(/^the HTTP rule for library.v1.MediaService.Bare: .*"fetch" is unknown$/);
  });
});

describe("default bindings", () => {
  test("are for methods without a rule whose request is no stream", () => {
    const rules = [{ selector: "library.v1.MediaService.BareStream", get: "/b" }];
    const { routes } = createRouteTable("/api", MediaService.methods, { rules, registry, defaultBindings: true });
    expect(shown(routes.filter(({ method }) => method.name.startsWith("Bare")))).toEqual([
      "POST /api/library.v1.MediaService/Bare",
      "GET /api/b",
    ]);
    expect(routes.filter(({ method }) => method.name === "Collect")).toEqual([]);
  });

  test("take the whole message as the body", async () => {
    const options = { ...mediaOptions, defaultBindings: true };
    const unary = await call(options, "POST", "/library.v1.MediaService/Bare", { body: '{"name":"x"}' });
    expect([unary.status, JSON.parse(unary.text)]).toMatchObject([200, { name: "x" }]);
    const stream = await call(options, "POST", "/library.v1.MediaService/BareStream", { body: '{"titles":["x"]}' });
    expect(stream.text).toMatch(/^\{"result":\{"name":"","title":"x",.*\}\}\n$/);
  });

  test("are not there unless they are asked for", async () => {
    const { status } = await call(mediaOptions, "POST", "/library.v1.MediaService/Bare", { body: "{}" });
    expect(status).toBe(404);
  });
});

function routesOf(rules: readonly HttpRuleJson[]): string[] {
  return shown(createRouteTable("", [MediaService.method.bare], { rules }).routes);
}

function shown(routes: readonly { readonly httpMethod: string; readonly template: { readonly source: string } }[]) {
  return routes.map(({ httpMethod, template }) => `${httpMethod} ${template.source}`);
}

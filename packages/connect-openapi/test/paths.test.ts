import { describe, expect, test } from "vitest";
import { MuseumService } from "./gen/museum/v1/museum_pb.js";
import { makeRoute } from "./support/make-route.js";
import { museumRoutes } from "./support/museum-routes.js";
import { documentOf } from "./support/parsed-document.js";

const { method } = MuseumService;

test.each([
  ["GET /v1/exhibits/{name}", "/v1/exhibits/{name}"],
  ["GET /v1/{name=rooms/*}", "/v1/rooms/{room}"],
  ["GET /v1/{name=rooms/*/exhibits/*}", "/v1/rooms/{room}/exhibits/{exhibit}"],
  ["GET /v1/{name=rooms/*/exhibits/*}:inspect", "/v1/rooms/{room}/exhibits/{exhibit}:inspect"],
  [
    "GET /v1/{name=shelves/*/boxes/*/categories/*/glass/*}",
    "/v1/shelves/{shelf}/boxes/{box}/categories/{category}/glass/{glass}",
  ],
  ["GET /v1/{name=old-rooms/*/old-rooms/*}", "/v1/old-rooms/{oldRoom}/old-rooms/{oldRoom2}"],
  ["GET /v1/{name=*/*}", "/v1/{name}/{name2}"],
  ["GET /v1/{name=rooms/**}", "/v1/rooms/{name}"],
  ["GET /v1/{name=**}", "/v1/{name}"],
  ["GET /v1/rooms/*/{name}", "/v1/rooms/{room}/{name}"],
  ["GET /*/{name}", "/{segment}/{name}"],
  ["GET /v1/{name=fixed}", "/v1/fixed"],
  ["GET /v1/caf%C3%A9/%7Ba%7D/b,c@d", "/v1/caf%C3%A9/%7Ba%7D/b,c@d"],
])("%s is the path %s", (binding, path) => {
  const { paths } = documentOf([makeRoute(method.getExhibit, binding)]);
  expect(Object.keys(paths)).toEqual([path]);
  const names = paths[path]?.["get"]?.parameters?.filter((each) => each["in"] === "path").map(({ name }) => name) ?? [];
  expect(names.map((name) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
});

test("a parameter has the rules and the comment of its field, and its value in the example", () => {
  const { paths } = documentOf([makeRoute(method.listExhibits, "GET /v1/rooms/{room}/exhibits")], {
    comment: (definition) => (definition.kind === "field" ? `The ${definition.name}.` : undefined),
    operation: () => ({ examples: { one: { value: { room: "5a0cb1f6-1d2b-4a8e-9b5d-0f6f6c1f7a11" } } } }),
  });
  expect(paths["/v1/rooms/{room}/exhibits"]?.["get"]?.parameters?.[0]).toEqual({
    name: "room",
    in: "path",
    required: true,
    description: "The room.",
    schema: { type: "string", format: "uuid" },
    example: "5a0cb1f6-1d2b-4a8e-9b5d-0f6f6c1f7a11",
  });
});

test("the segments of one variable share its value in the example", () => {
  const routes = [
    makeRoute(method.getExhibit, "GET /v1/{name=rooms/*/exhibits/*}"),
    makeRoute(method.downloadFile, "GET /v1/{path=files/**}"),
  ];
  const { paths } = documentOf(routes, {
    operation: () => ({ examples: { one: { value: { name: "rooms/7/exhibits/vase", path: "files/a/b.txt" } } } }),
  });
  const parameters = Object.values(paths).flatMap(({ get }) => get?.parameters ?? []);
  expect(parameters.map(({ name, example }) => [name, example])).toEqual([
    ["room", "7"],
    ["exhibit", "vase"],
    ["path", "a/b.txt"],
  ]);
});

describe("a query", () => {
  const [, , list] = museumRoutes;
  const parameters = documentOf([list]).paths["/v1/rooms/{room}/exhibits"]?.["get"]?.parameters ?? [];

  test("has the fields that are neither in the path nor in the body, and those of their messages", () => {
    const names = parameters.filter((each) => each["in"] === "query").map(({ name }) => name);
    expect(names).toEqual(["pageSize", "pageToken", "filter.maker", "filter.conditions", "since"]);
  });

  test("requires what the proto requires", () => {
    expect(parameters.filter((each) => each["required"] === true).map(({ name }) => name)).toEqual(["room", "since"]);
  });

  test("is empty if the whole message is the body", () => {
    const route = makeRoute(method.listExhibits, "POST /v1/lists", { body: "*" });
    expect(documentOf([route]).paths["/v1/lists"]?.["post"]).not.toHaveProperty("parameters");
  });

  test("has no member of a field that is the body", () => {
    const route = makeRoute(method.createExhibit, "POST /v1/{room}", { body: "exhibit" });
    const names = documentOf([route]).paths["/v1/{room}"]?.["post"]?.parameters?.map(({ name }) => name);
    expect(names).toEqual(["room", "dryRun"]);
  });
});

describe("routes with one path", () => {
  test("are operations of it, with the parameter names of the first", () => {
    const routes = [
      makeRoute(method.getExhibit, "GET /v1/{name=rooms/*}"),
      makeRoute(method.createExhibit, "POST /v1/rooms/{room}"),
      makeRoute(method.updateExhibit, "PATCH /v1/rooms/{id}"),
    ];
    const { paths } = documentOf(routes);
    expect(Object.keys(paths)).toEqual(["/v1/rooms/{room}"]);
    const operations = Object.entries(paths["/v1/rooms/{room}"] ?? {});
    expect(operations.map(([name, { parameters }]) => [name, parameters?.[0]?.name])).toEqual([
      ["get", "room"],
      ["post", "room"],
      ["patch", "room"],
    ]);
  });

  test("are an error if they also have one HTTP method", () => {
    const routes = [
      makeRoute(method.downloadFile, "GET /v1/{path=**}"),
      makeRoute(method.getExhibit, "GET /v1/{name}"),
    ];
    expect(() => documentOf(routes)).toThrow(
      "GET /v1/{} (museum.v1.MuseumService/GetExhibit) cannot be described, so leave it out of the routes: " +
        "another route also has /v1/{path}",
    );
  });
});

describe("the base path", () => {
  const route = makeRoute(method.getExhibit, "GET /caf%C3%A9/v1/exhibits/{name}");

  test("is in the server's URL and not in the paths", () => {
    const { servers, paths } = documentOf([route], { basePath: "/caf%C3%A9/v1" });
    expect([servers, Object.keys(paths)]).toEqual([[{ url: "/caf%C3%A9/v1" }], ["/exhibits/{name}"]]);
  });

  test("is / by default", () => {
    expect(documentOf([route]).servers).toEqual([{ url: "/" }]);
  });

  test("must begin every path", () => {
    expect(() => documentOf([route], { basePath: "/v2" })).toThrow(/the path does not begin with \/v2$/);
  });
});

test.each(["*", "PURGE"])("the HTTP method %s is an error", (httpMethod) => {
  const route = makeRoute(method.getExhibit, `${httpMethod} /v1/{name}`);
  expect(() => documentOf([route])).toThrow(/OpenAPI 3\.1 does not have this HTTP method$/);
});

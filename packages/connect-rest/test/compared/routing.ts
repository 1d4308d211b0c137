/**
 * Cases of routing: the route that answers, and its variables. They follow the tests of vanguard-go, grpc-gateway and
 * Envoy, with paths of our own.
 */
import type { Difference } from "./difference.js";

/** A request line, and the route that answers with the fields that it reads from the path; or a status. */
export type Request = readonly [request: string, route: string | 404 | 405, fields?: Readonly<Record<string, unknown>>];

/** A request that another project answers in another way. */
export type DifferentRequest = readonly [
  request: string,
  who: string,
  difference: Difference,
  route: string | 404 | 405,
  fields?: Readonly<Record<string, unknown>>,
];

/** Routes that are served together. */
export interface Table {
  readonly about: string;
  readonly routes: readonly string[];
  readonly requests: readonly Request[];
  readonly different?: readonly DifferentRequest[];
}

/** The routes of each table are methods from library.v1.Kinds to itself. */
export const tables: readonly Table[] = [
  {
    about: "literals, wildcards and rests side by side",
    routes: [
      "GET /city/parks/north/gate",
      "GET /city/parks/{id}",
      "GET /city/parks/{id}/trees/{opt_text}",
      "GET /city/parks/{id}/trees/{child.id}/birds/{child.child.id}",
      "GET /city/parks/*/{child.id}/{opt_text=**}",
      "GET /city/parks/*/{child.id}/{opt_text=**}:draw",
      "GET /city/parks/*/{child.id}/{opt_text=**}:paint",
      "GET /city/halls/{id=*/*/*}/doors",
      "GET /signs/**:read",
      "GET /plain",
      "GET /joined%2Fname/%2A/%2A%2a/{id=%2A%2a/**}:%2c",
    ],
    requests: [
      ["GET /parks/city", 404],
      ["GET /city/parks/oak", "GET /city/parks/{id}", { id: "oak" }],
      ["GET /city/squares/oak", 404],
      ["GET /city/parks/north/gate", "GET /city/parks/north/gate"],
      ["GET /city/parks/oak/trees/7", "GET /city/parks/{id}/trees/{opt_text}", { id: "oak", optText: "7" }],
      [
        "GET /city/parks/1/trees/2/birds/3",
        "GET /city/parks/{id}/trees/{child.id}/birds/{child.child.id}",
        { id: "1", child: { id: "2", child: { id: "3" } } },
      ],
      [
        "GET /city/parks/oak/7/nest",
        "GET /city/parks/*/{child.id}/{opt_text=**}",
        { child: { id: "7" }, optText: "nest" },
      ],
      [
        "GET /city/parks/oak/7/nest/egg",
        "GET /city/parks/*/{child.id}/{opt_text=**}",
        { child: { id: "7" }, optText: "nest/egg" },
      ],
      [
        "GET /city/parks/oak/7/nest/egg:draw",
        "GET /city/parks/*/{child.id}/{opt_text=**}:draw",
        { child: { id: "7" }, optText: "nest/egg" },
      ],
      [
        "GET /city/parks/oak/7/a/b/c/d:paint",
        "GET /city/parks/*/{child.id}/{opt_text=**}:paint",
        { child: { id: "7" }, optText: "a/b/c/d" },
      ],
      [
        "GET /city/parks/oak/7/nest:burn",
        "GET /city/parks/*/{child.id}/{opt_text=**}",
        { child: { id: "7" }, optText: "nest:burn" },
      ],
      ["GET /city/halls/a/b/c/doors", "GET /city/halls/{id=*/*/*}/doors", { id: "a/b/c" }],
      ["GET /city/halls/a/b/c/doors:open", 404],
      [
        "GET /city/parks/oak/%2f/%2A/%2f",
        "GET /city/parks/*/{child.id}/{opt_text=**}",
        { child: { id: "/" }, optText: "*/%2f" },
      ],
      ["GET /joined%2fname/*/**/**/x:,", "GET /joined%2Fname/%2A/%2A%2a/{id=%2A%2a/**}:%2c", { id: "**/x" }],
      ["GET /plain", "GET /plain"],
      ["GET /plain:", 404],
      ["GET /plain:read", 404],
      ["POST /plain", 405],
      ["DELETE /city/parks/oak", 405],
      ["PUT /city/squares/oak", 404],
      ["GET /signs:read", 404],
      ["GET city/parks/oak", 404],
    ],
    different: [
      [
        "GET /city/parks/oak/7",
        "vanguard-go: no route, because ** takes one segment or more",
        "verb-without-segment",
        "GET /city/parks/*/{child.id}/{opt_text=**}",
        { child: { id: "7" }, optText: "" },
      ],
      ["GET /signs/:read", "vanguard-go: GET /signs/**:read", "verb-without-segment", 404],
    ],
  },
  {
    about: "a rest at the root",
    routes: ["GET /**"],
    requests: [
      ["GET /", "GET /**"],
      ["GET /a", "GET /**"],
      ["GET /a/b/c", "GET /**"],
    ],
    different: [
      ["GET /a/", "Envoy: GET /**", "trailing-slash", 404],
      ["GET /a//b", "Envoy: GET /**", "trailing-slash", 404],
    ],
  },
  {
    about: "from wildcards to literals",
    routes: [
      "GET /shed/**",
      "GET /barn/*",
      "GET /farm/*/field/**",
      "GET /farm/*/field/wheat",
      "GET /farm/old/field/wheat",
      "GET /",
    ],
    requests: [
      ["GET /shed/a", "GET /shed/**"],
      ["GET /shed/a/b", "GET /shed/**"],
      ["GET /barn/a", "GET /barn/*"],
      ["GET /barn/a/b", 404],
      ["GET /farm/a/field/b", "GET /farm/*/field/**"],
      ["GET /farm/a/field/b/c", "GET /farm/*/field/**"],
      ["GET /farm/a/b/field/c", 404],
      ["GET /farm//a/field/c", 404],
      ["GET /farm/a/field/wheat", "GET /farm/*/field/wheat"],
      ["GET /farm/old/field/wheat", "GET /farm/old/field/wheat"],
      ["GET /farm/old/field/rye", "GET /farm/*/field/**"],
      ["GET /", "GET /"],
      ["POST /", 405],
    ],
  },
  {
    about: "variables of one segment and of several",
    routes: [
      "GET /mill/{id}/c/d/e",
      "GET /{id=mill/*}/b/{opt_text=*}/c",
      "GET /mill/{id=b/*}/{opt_text=d/**}",
      "GET /{id=*}/mill",
      "GET /mill/b/{id=*}",
      "GET /mill/b/c/{id=**}",
      "GET /{id=*}/d/e/f/{opt_text=**}",
      "GET /room/{id}/x",
      "GET /hall/{id=p/*/q/*}/x",
    ],
    requests: [
      ["GET /mill/ink/c/d/e", "GET /mill/{id}/c/d/e", { id: "ink" }],
      ["GET /mill/ink/b/oil/c", "GET /{id=mill/*}/b/{opt_text=*}/c", { id: "mill/ink", optText: "oil" }],
      ["GET /mill/b/ink/d/oil/wax", "GET /mill/{id=b/*}/{opt_text=d/**}", { id: "b/ink", optText: "d/oil/wax" }],
      ["GET /ink/mill", "GET /{id=*}/mill", { id: "ink" }],
      ["GET /mill/b/ink", "GET /mill/b/{id=*}", { id: "ink" }],
      ["GET /mill/b/c/ink/oil/wax", "GET /mill/b/c/{id=**}", { id: "ink/oil/wax" }],
      ["GET /ink/d/e/f/oil/wax", "GET /{id=*}/d/e/f/{opt_text=**}", { id: "ink", optText: "oil/wax" }],
      ["GET /room/p%20q%2Fr+/x", "GET /room/{id}/x", { id: "p q/r+" }],
      ["GET /room/a%252Fb/x", "GET /room/{id}/x", { id: "a%2Fb" }],
      ["GET /hall/p/a%20b/q/c%2Fd/x", "GET /hall/{id=p/*/q/*}/x", { id: "p/a b/q/c%2Fd" }],
    ],
    different: [
      [
        "GET /mill/b/c/%21%24%26%2C%3A%40%5B%5D",
        "Envoy, a mode of grpc-gateway: the reserved characters stay encoded",
        "reserved-characters",
        "GET /mill/b/c/{id=**}",
        { id: "!$&,:@[]" },
      ],
      [
        "GET /mill/b/c/a%2fb",
        "vanguard-go: %2F in upper case",
        "reserved-characters",
        "GET /mill/b/c/{id=**}",
        { id: "a%2fb" },
      ],
    ],
  },
  {
    about: "verbs beside routes without one",
    routes: ["GET /staff", "GET /staff/{id=*}", "GET /{id=**}:hire"],
    requests: [
      ["GET /staff:hire", "GET /{id=**}:hire", { id: "staff" }],
      ["GET /staff/ann:hire", "GET /{id=**}:hire", { id: "staff/ann" }],
      ["GET /birds:hire", "GET /{id=**}:hire", { id: "birds" }],
      ["GET /birds/owl:hire", "GET /{id=**}:hire", { id: "birds/owl" }],
      ["GET /staff", "GET /staff"],
      ["GET /staff/ann", "GET /staff/{id=*}", { id: "ann" }],
      ["GET /staff/ann:fire", "GET /staff/{id=*}", { id: "ann:fire" }],
      ["GET /staff:fire", 404],
      ["GET /birds", 404],
      ["GET /birds/owl", 404],
      ["GET /birds/owl:fire", 404],
    ],
  },
  {
    about: "verbs after variables",
    routes: [
      "GET /a/{opt_text=*}:run",
      "GET /a/{opt_text=d/**}:run",
      "GET /{id=*}/z:run",
      "GET /e/{id=*}/f:run",
      "GET /some/const:run",
      "GET /some/*:run",
      "GET /some/*/foo:run",
      "GET /other/**:run",
    ],
    requests: [
      ["GET /a/x:run", "GET /a/{opt_text=*}:run", { optText: "x" }],
      ["GET /a/d/x/y:run", "GET /a/{opt_text=d/**}:run", { optText: "d/x/y" }],
      ["GET /x/z:run", "GET /{id=*}/z:run", { id: "x" }],
      ["GET /e/x/f:run", "GET /e/{id=*}/f:run", { id: "x" }],
      ["GET /some/const:run", "GET /some/const:run"],
      ["GET /some/x:run", "GET /some/*:run"],
      ["GET /some/x:run/", 404],
      ["GET /some/x/foo:run", "GET /some/*/foo:run"],
      ["GET /some/x/y/foo:run", 404],
      ["GET /some/x/bar:run", 404],
      ["GET /other/x/foo:run", "GET /other/**:run"],
    ],
  },
  {
    about: "colons that begin no verb",
    routes: [
      "GET /{id=*}/{opt_text=*}:go",
      "GET /foo/{id=*}",
      "GET /bar/*/hello",
      "GET /deep/{id=**}:go",
      "GET /deep/{id=**}",
    ],
    requests: [
      ["GET /a:go/b:go", "GET /{id=*}/{opt_text=*}:go", { id: "a:go", optText: "b" }],
      ["GET /foo/other:go2", "GET /foo/{id=*}", { id: "other:go2" }],
      ["GET /bar/other:go/hello", "GET /bar/*/hello"],
      ["GET /deep/a:go/b:go", "GET /deep/{id=**}:go", { id: "a:go/b" }],
      ["GET /deep/a:go/b", "GET /deep/{id=**}", { id: "a:go/b" }],
      ["GET /deep/a:no/b:no", "GET /deep/{id=**}", { id: "a:no/b:no" }],
      ["GET /deep/urn:x:go", "GET /deep/{id=**}:go", { id: "urn:x" }],
    ],
  },
  {
    about: "paths that are longer or shorter than a route",
    routes: ["GET /one/two/three", "GET /one/two", "GET /one"],
    requests: [
      ["GET /one/two/three", "GET /one/two/three"],
      ["GET /one/two", "GET /one/two"],
      ["GET /one", "GET /one"],
      ["GET /one/two/three/four", 404],
      ["GET /one/two/other", 404],
      ["GET /one/other", 404],
      ["GET /other", 404],
      ["POST /one/two", 405],
    ],
  },
  {
    about: "HTTP methods",
    routes: ["GET /foo", "POST /foo", "DELETE /foo/{id=*}:verb", "POST /foo/{id=*}", "GET /foo/{id=*}"],
    requests: [
      ["GET /foo", "GET /foo"],
      ["POST /foo", "POST /foo"],
      ["GET /bar", 404],
      ["PATCH /foo", 405],
      ["DELETE /foo/x:verb", "DELETE /foo/{id=*}:verb", { id: "x" }],
      ["GET /foo/x:123", "GET /foo/{id=*}", { id: "x:123" }],
      ["GET /foo/a%2fb", "GET /foo/{id=*}", { id: "a/b" }],
      ["GET /foo/%25", "GET /foo/{id=*}", { id: "%" }],
      ["GET /foo/a%2Fb/c", 404],
    ],
    different: [["GET foo", "grpc-gateway: 400", "path-without-slash", 404]],
  },
];

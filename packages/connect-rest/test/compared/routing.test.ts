import { toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import { type Kinds, KindsSchema } from "../gen/library/v1/library_pb.js";
import { call, requestOf } from "../support/call-handler.js";
import { makeRoutes } from "../support/make-service.js";
import { tables } from "./routing.js";

describe.each(tables)("$about", ({ routes, requests, different = [] }) => {
  for (const [request, route, fields = {}] of requests) {
    test(`${request} goes to ${route}`, async () => {
      expect(await outcome(routes, request)).toEqual([route, fields]);
    });
  }

  for (const [request, who, , route, fields = {}] of different) {
    test(`${request} goes to ${route}. ${who}`, async () => {
      expect(await outcome(routes, request)).toEqual([route, fields]);
    });
  }
});

test("every character of ASCII may be percent-encoded in a segment, in either case", async () => {
  const codes = Array.from({ length: 0x7f }, (_, code) => code.toString(16).padStart(2, "0"));
  for (const code of codes.flatMap((each) => [each, each.toUpperCase()])) {
    const [, fields] = await outcome(["GET /{id}"], `GET /%${code}`);
    expect(fields).toEqual({ id: String.fromCharCode(Number.parseInt(code, 16)) });
  }
});

test("a path of very many segments is no danger", async () => {
  const long = `/a${"/b".repeat(30_000)}`;
  const [route] = await outcome(["GET /a/{id=**}", "GET /a/*/*/c"], `GET ${long}`);
  expect(route).toBe("GET /a/{id=**}");
  expect(await outcome(["GET /a/{id=**}"], `GET /a${"/".repeat(60_000)}`)).toEqual([404, {}]);
});

test("an equal route is an error at construction, not at a request", () => {
  expect(() => createRestHandler({ services: [makeRoutes("GET /a/b", "GET /a/b")] })).toThrow("neither is narrower");
});

test("no header changes the method of a request", async () => {
  const services = [makeRoutes("GET /foo")];
  const headers = { "X-HTTP-Method-Override": "GET", "Content-Type": "application/x-www-form-urlencoded" };
  expect((await call({ services }, "POST", "/foo", { headers, body: "id=x" })).status).toBe(405);
});

/**
 * Returns the route that answers, or the status, and the fields that were read. Uses the protojson profile, because it
 * accepts U+0000. Ranks conflicting routes, because the other projects reject none.
 */
async function outcome(routes: readonly string[], request: string): Promise<[route: string | number, fields: unknown]> {
  const { service } = makeRoutes(...routes);
  let found: [string, unknown] | undefined;
  const implementations = service.methods.map(({ localName }, index) => [
    localName,
    (message: Kinds) => {
      found = [routes[index] ?? "", toJson(KindsSchema, message)];
      return {};
    },
  ]);
  const services = [{ service, implementation: Object.fromEntries(implementations) as object }];
  const [method = "", url = ""] = request.split(" ");
  const answer = await createRestHandler({ services, profile: "protojson", onConflict: () => {} }).handle(
    requestOf(method, url, {}),
  );
  return found ?? [answer?.status ?? 0, {}];
}

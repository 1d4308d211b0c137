import { clearField, type DescService, equals, fromJson } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { createBinder } from "../src/bind-request.js";
import { RestError } from "../src/rest-error.js";
import type { RestRequest } from "../src/rest-message.js";
import { findConflicts } from "../src/routes/route-conflicts.js";
import { createRouteTable, matchRoute, type RouteTable } from "../src/routes/route-table.js";
import { collectRoutes, type Route } from "../src/routes/routes.js";
import { updateMaskField } from "../src/update-mask.js";
import { filesWithBindings, servicesOf } from "./support/google-protos.js";
import { pick, type Random, seeded } from "./support/random-json.js";
import { type RenderedRequest, renderRequest } from "./support/render-request.js";

/** REAL_BINDINGS=all tests every file. REAL_BINDINGS_SEED selects another sample and other values. */
const isForAll = process.env["REAL_BINDINGS"] === "all";
const random = seeded(Number(process.env["REAL_BINDINGS_SEED"] ?? 1));
const sampledFiles = 40;
const requestsPerRoute = 2;

const notServed = [
  /no REST form; only unary/,
  /google\.protobuf\.Any, which REST/,
  /nothing may follow \*\*$/,
  /match the same requests and neither is narrower$/,
];

describe("the HTTP bindings of Google's public APIs", { timeout: isForAll ? 900_000 : 30_000 }, () => {
  const files = filesWithBindings();
  const services = servicesOf(isForAll ? files : sample(files, random));
  const tables = services.map(tableOf);

  test("become routes, except those that REST cannot serve or that http.proto forbids", () => {
    const problems = tables.flatMap((table) => table.problems);
    expect(problems.filter((line) => !notServed.some((reason) => reason.test(line)))).toEqual([]);
    expect(tables.flatMap(({ table }) => table.routes).length).toBeGreaterThan(5 * sampledFiles);
  });

  test("bind requests that a client renders by google/api/http.proto to the intended message", async () => {
    const wrong: string[] = [];
    for (const { table } of tables) {
      for (const route of table.routes) {
        for (let count = 0; count < requestsPerRoute; count++) {
          const request = renderRequest(route, random);
          const problem = await problemOf(table, route, request);
          if (problem !== undefined) wrong.push(`${route.template.source}: ${problem}\n${JSON.stringify(request)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

function sample(files: readonly string[], from: Random): string[] {
  return [...new Set(Array.from({ length: sampledFiles }, () => pick(from, files)))];
}

/**
 * Replaces answers by empty ones, because only the reading of requests is tested and many answers use
 * google.protobuf.Any.
 */
function tableOf(service: DescService): { table: RouteTable; problems: readonly string[] } {
  const methods = service.methods.map((method) => ({ ...method, output: EmptySchema }));
  const problems: string[] = [];
  collectRoutes("", methods, problems);
  const sound = methods.filter(
    ({ name }) => !problems.some((line) => line.startsWith(`${service.typeName}/${name}: `)),
  );
  const conflicts = findConflicts(collectRoutes("", sound, []));
  const alone = sound.filter(({ name }) => !conflicts.some((line) => line.includes(`/${name}) match the same`)));
  return { table: createRouteTable("", alone), problems: [...problems, ...conflicts] };
}

async function problemOf(table: RouteTable, route: Route, request: RenderedRequest): Promise<string | undefined> {
  const { path, query, body, meant } = request;
  const match = matchRoute(table, route.httpMethod, path);
  if (match === undefined || !("route" in match)) return "no route";
  if (match.route !== route) return `another route: ${match.route.template.source}`;
  try {
    const bind = createBinder(route, { maxBodyBytes: 2 ** 24, maxDepth: 64 });
    const message = await bind({ http: requestOf(body), segments: match.segments, query });
    const mask = updateMaskField(route);
    if (mask !== undefined) clearField(message, mask);
    const schema = route.method.input;
    return equals(schema, message, fromJson(schema, meant)) ? undefined : "another message";
  } catch (error) {
    return error instanceof RestError ? JSON.stringify(error) : String(error);
  }
}

function requestOf(body: string): RestRequest {
  return {
    method: "",
    url: "",
    rawHeaders: ["content-type", "application/json"],
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(Buffer.from(body)),
    isGone: () => false,
  };
}

import { clearField, type DescMethod, type DescService, equals, fromJson, type Registry } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createBinder } from "../src/bind-request.js";
import { RestError } from "../src/rest-error.js";
import type { RestRequest } from "../src/rest-message.js";
import { findConflicts } from "../src/routes/route-conflicts.js";
import { describeProblem } from "../src/routes/route-problem.js";
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
/** The least number of services, of all files, that load without a skipped route and without a conflict. */
const wholeServices = 1_900;

const notServed = [
  /(client|bidi) streaming method has no REST form/,
  /nothing may follow \*\*$/,
  /match the same requests and neither is narrower$/,
];

describe("the HTTP bindings of Google's public APIs", { timeout: isForAll ? 900_000 : 30_000 }, () => {
  const files = filesWithBindings();
  const { services, registry } = servicesOf(isForAll ? files : sample(files, random));
  const tables = services.map((service) => tableOf(service, registry));

  test("become routes, except those that REST cannot serve or that http.proto forbids", () => {
    const problems = tables.flatMap((table) => table.problems);
    expect(problems.filter((line) => !notServed.some((reason) => reason.test(line)))).toEqual([]);
    expect(tables.flatMap(({ table }) => table.routes).length).toBeGreaterThan(5 * sampledFiles);
    const whole = tables.filter(({ table, problems: ofTable }) => table.routes.length > 0 && ofTable.length === 0);
    expect(whole.length).toBeGreaterThan(isForAll ? wholeServices : sampledFiles / 2);
  });

  test("bind requests that a client renders by google/api/http.proto to the intended message", async () => {
    const wrong: string[] = [];
    for (const { table, ranked } of tables) {
      for (const route of table.routes.filter(({ method }) => !ranked.has(method))) {
        for (let count = 0; count < requestsPerRoute; count++) {
          const request = renderRequest(route, random);
          const problem = await problemOf(table, route, request, registry);
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

/** A table without the bindings that cannot be served, and the methods whose routes conflict. */
interface LenientTable {
  readonly table: RouteTable;
  readonly problems: readonly string[];
  readonly ranked: ReadonlySet<DescMethod>;
}

function tableOf({ methods }: DescService, registry: Registry): LenientTable {
  const problems: string[] = [];
  const report = (problem: Parameters<typeof describeProblem>[0]) => void problems.push(describeProblem(problem));
  const table = createRouteTable("", methods, { registry, onInvalidRoute: report, onConflict: report });
  const routes = collectRoutes("", methods, () => {}, { registry });
  const ranked = new Set(findConflicts(routes).flatMap(({ first, second }) => [first.method, second.method]));
  return { table, problems, ranked };
}

async function problemOf(
  table: RouteTable,
  route: Route,
  request: RenderedRequest,
  registry: Registry,
): Promise<string | undefined> {
  const { path, query, body, meant } = request;
  const match = matchRoute(table, route.httpMethod, path);
  if (match === undefined || !("route" in match)) return "no route";
  if (match.route !== route) return `another route: ${match.route.template.source}`;
  try {
    const bind = createBinder(route, { registry, maxBodyBytes: 2 ** 24, maxDepth: 64 });
    const message = await bind({ http: requestOf(body), segments: match.segments, query });
    const mask = updateMaskField(route);
    if (mask !== undefined) clearField(message, mask);
    const schema = route.method.input;
    return equals(schema, message, fromJson(schema, meant, { registry })) ? undefined : "another message";
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

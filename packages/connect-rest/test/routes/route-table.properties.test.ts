import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createRouteTable, matchRoute } from "../../src/routes/route-table.js";
import { makeRoutes } from "../support/make-service.js";

const methods = ["GET", "PUT"];
const requests = methods.flatMap((method) => ["/", ...paths(4)].map((path) => ({ method, path })));

const rule = fc
  .tuple(
    fc.constantFrom("GET", "PUT", "*"),
    fc.array(fc.constantFrom("a", "c", "*"), { minLength: 0, maxLength: 2 }),
    fc.constantFrom("a", "a%3Av", "*", "**"),
    fc.constantFrom("", ":v"),
  )
  .map(([method, segments, last, verb]) => `${method} /${[...segments, last].join("/")}${verb}`);

test("two routes conflict if a request matches both and neither matches only a subset of the other's requests", () => {
  fc.assert(
    fc.property(rule, rule, (a, b) => {
      if (conflicts(a, b))
        expect(() => createRouteTable("", makeRoutes(a, b).service.methods)).toThrow("neither is narrower");
      else expect(createRouteTable("", makeRoutes(a, b).service.methods).routes).toHaveLength(2);
    }),
    { numRuns: 500 },
  );
});

test("a request gets the narrowest matching route, or the methods of its path, or nothing", () => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 5 }), fc.constantFrom(...requests), (rules, request) => {
      const served = withoutConflicts(rules);
      const outcome = matchRoute(
        createRouteTable("", makeRoutes(...served).service.methods),
        request.method,
        request.path,
      );
      const having = served.filter((each) => patternOf(each).test(request.path));
      const answering = having.filter((each) => requestsOf(each).includes(request));
      if (having.length === 0) expect(outcome).toBeUndefined();
      else if (answering.length === 0)
        expect(outcome).toEqual({ allow: [...new Set(having.map(methodOf))].toSorted() });
      else {
        const narrowest = answering.filter((each) =>
          answering.every((other) => isPart(requestsOf(each), requestsOf(other))),
        );
        const match = outcome !== undefined && "route" in outcome ? outcome.route : undefined;
        expect([`${match?.httpMethod} ${match?.template.source}`]).toEqual(narrowest);
      }
    }),
    { numRuns: 500 },
  );
});

function paths(longest: number): string[] {
  const ends = ["a", "c", "a:v", "a%3Av", "a:v:v", "a%3Av:v", "c:v", "c:x"].map((end) => `/${end}`);
  return longest === 1 ? ends : [...ends, ...paths(longest - 1).flatMap((path) => [`/a${path}`, `/c${path}`])];
}

function requestsOf(served: string): typeof requests {
  const pattern = patternOf(served);
  return requests.filter(({ method, path }) => ["*", method].includes(methodOf(served)) && pattern.test(path));
}

function patternOf(served: string): RegExp {
  const path = served.slice(methodOf(served).length + 1);
  if (path === "/**") return /^(\/|(\/[^/]+)+)$/;
  const open = path.endsWith(":v") ? "(/[^/]+)+" : "(/[^/]+)*";
  const pattern = path.replace("/**", "\0").replaceAll("*", "[^/]+").replace("\0", open).replace("%3A", "(:|%3A)");
  return new RegExp(`^${pattern}$`);
}

function methodOf(served: string): string {
  return served.split(" ")[0] ?? "";
}

function isPart(inner: readonly unknown[], outer: readonly unknown[]): boolean {
  return inner.every((request) => outer.includes(request));
}

function withoutConflicts(rules: readonly string[]): string[] {
  const kept: string[] = [];
  for (const each of rules) if (!kept.some((other) => conflicts(each, other))) kept.push(each);
  return kept;
}

function conflicts(a: string, b: string): boolean {
  const [ofA, ofB] = [requestsOf(a), requestsOf(b)];
  return ofA.some((request) => ofB.includes(request)) && isPart(ofA, ofB) === isPart(ofB, ofA);
}

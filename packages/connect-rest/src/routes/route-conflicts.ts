import type { PathSegment } from "./path-template.js";
import { createNeighbourhood } from "./route-neighbourhood.js";
import { methodName, type RouteProblem, routeProblem } from "./route-problem.js";
import type { Route } from "./routes.js";

/**
 * Two routes that match the same request. Neither route is narrower than the other. A route is narrower than another
 * route if it matches only a part of the requests that the other route matches, and no other requests.
 */
export interface RouteConflict {
  readonly first: Route;
  readonly second: Route;
}

/**
 * Finds at most `limit` conflicts, see {@link RouteConflict}. The conflicts are in the order of their second route.
 *
 * A narrower route is no conflict, because it answers the requests that both routes match. `/books/search` and
 * `/books/{id}:rename` are narrower than `/books/{id}`. A GET route is narrower than a route for every HTTP method.
 */
export function findConflicts(routes: readonly Route[], limit = Number.POSITIVE_INFINITY): RouteConflict[] {
  const conflicts: RouteConflict[] = [];
  const { near, add } = createNeighbourhood();
  for (const second of routes) {
    for (const first of near(second)) {
      if (!overlap(first, second) || covers(first, second) !== covers(second, first)) continue;
      conflicts.push({ first, second });
      if (conflicts.length === limit) return conflicts;
    }
    add(second);
  }
  return conflicts;
}

/** Returns a conflict as a problem of its second route. */
export function conflictProblem({ first, second }: RouteConflict): RouteProblem {
  const message = `${describe(second)} and ${describe(first)} of ${methodName(first.method)} (${fileOf(first)}) match the same requests and neither is narrower`;
  return routeProblem(second.method, describe(second), message);
}

function describe({ httpMethod, template }: Route): string {
  return `${httpMethod} ${template.source}`;
}

function fileOf({ method }: Route): string {
  return method.parent.file.proto.name;
}

function overlap(a: Route, b: Route): boolean {
  if (a.httpMethod !== b.httpMethod && a.httpMethod !== "*" && b.httpMethod !== "*") return false;
  return lengths(a, b).some((length) => {
    const [ofA, ofB] = [expand(a, length), expand(b, length)];
    return ofA !== undefined && ofB !== undefined && ofA.every((s, i) => meet(s, ofB[i])) && verbsMeet(a, b, ofA, ofB);
  });
}

/** Returns whether `wide` matches every request that `narrow` matches. */
function covers(wide: Route, narrow: Route): boolean {
  if (wide.httpMethod !== narrow.httpMethod && wide.httpMethod !== "*") return false;
  if (wide.template.verb !== undefined && wide.template.verb !== narrow.template.verb) return false;
  return lengths(wide, narrow).every((length) => {
    const inner = expand(narrow, length);
    if (inner === undefined) return true;
    const outer = expand(wide, length);
    if (outer === undefined || !verbsMeet(wide, narrow, outer, inner)) return false;
    return outer.every(
      (segment, i) => segment.kind === "single" || (inner[i]?.kind === "literal" && meet(segment, inner[i])),
    );
  });
}

/**
 * Returns the path lengths, in segments, at which two routes are compared. The last one is longer than both templates.
 * Longer paths need no comparison, because in them `**` only matches more segments.
 */
function lengths(a: Route, b: Route): number[] {
  const longest = Math.max(a.template.segments.length, b.template.segments.length) + 1;
  return Array.from({ length: longest + 1 }, (_, index) => index);
}

/**
 * Returns the segments of a route's template for a path of `length` segments. Returns undefined if the route matches no
 * path of this length. `**` becomes as many `*` as `length` allows. If the last segment is a literal, the custom verb
 * of the route is appended to it. (In the route `/a:b`, the custom verb is `b`.)
 */
function expand({ template: { segments, verb } }: Route, length: number): PathSegment[] | undefined {
  const fixed = segments.filter(({ kind }) => kind !== "rest");
  const open = fixed.length < segments.length;
  const shortest = fixed.length + (open && verb !== undefined ? 1 : 0);
  if (open ? shortest > length : shortest !== length) return undefined;
  const expanded = [...fixed, ...Array.from({ length: length - fixed.length }, () => ({ kind: "single" }) as const)];
  const last = expanded.at(-1);
  if (verb === undefined || last?.kind !== "literal") return expanded;
  return [...expanded.slice(0, -1), { kind: "literal", text: `${last.text}:${verb}` }];
}

function meet(a: PathSegment, b: PathSegment | undefined): boolean {
  return a.kind !== "literal" || b?.kind !== "literal" || a.text === b.text;
}

/**
 * Returns whether one path segment can match the last segments of both routes. A wildcard before a custom verb, as in
 * `/{id}:rename`, matches only segments that end in the verb.
 */
function verbsMeet(a: Route, b: Route, ofA: PathSegment[], ofB: PathSegment[]): boolean {
  return endsMeet(ofA.at(-1), a.template.verb, ofB.at(-1), b.template.verb);
}

function endsMeet(
  a: PathSegment | undefined,
  verbOfA: string | undefined,
  b: PathSegment | undefined,
  verbOfB: string | undefined,
): boolean {
  if (a?.kind === "literal" && b?.kind === "literal") return a.text === b.text;
  if (a?.kind === "literal") return verbOfB === undefined || endsIn(a.text, verbOfB);
  if (b?.kind === "literal") return verbOfA === undefined || endsIn(b.text, verbOfA);
  return verbOfA === verbOfB || verbOfA === undefined || verbOfB === undefined;
}

function endsIn(text: string, verb: string): boolean {
  return text.length > verb.length + 1 && text.endsWith(`:${verb}`);
}

import type { DescMethod } from "@bufbuild/protobuf";
import { parsePathTemplate } from "./path-template.js";
import { percentDecode } from "./percent-decode.js";
import { conflictProblem, findConflicts } from "./route-conflicts.js";
import { describeProblem, type RouteProblem } from "./route-problem.js";
import { type BindingOptions, collectRoutes, type Route } from "./routes.js";

/** A route, and the percent-encoded segments of the path that it matched, without a custom verb (`:rename`). */
export interface RouteMatch {
  readonly route: Route;
  readonly segments: readonly string[];
}

/**
 * The result of matching a request:
 * - {@link RouteMatch}: a route matches the request.
 * - `allow`: the path has routes only for other HTTP methods. These methods are listed in alphabetical order.
 * - undefined: no route has the path.
 */
export type RouteOutcome = RouteMatch | { readonly allow: readonly string[] } | undefined;

/** The routes, and a tree to find them. The edges of the tree are literals, `*` and, at the end only, `**`. */
export interface RouteTable {
  readonly routes: readonly Route[];
  readonly root: RouteNode;
}

interface RouteNode {
  readonly literals: Map<string, RouteNode>;
  single: RouteNode | undefined;
  readonly ends: RoutesByVerb;
  readonly rest: RoutesByVerb;
}

/** Custom verb ("" for none) → HTTP method ("*" for every method) → route. */
type RoutesByVerb = Map<string, Map<string, Route>>;

interface Search {
  readonly segments: readonly string[];
  readonly verb: string;
  readonly httpMethod: string;
  /** The HTTP methods of routes that match the path but not the method of the request. */
  readonly otherMethods: Set<string>;
}

/** Options for bindings that cannot be served, and for routes that conflict. */
export interface TableOptions extends BindingOptions {
  /**
   * Receives each binding that cannot be served. The handler then serves all other bindings. Without this callback, the
   * creation of the handler throws an Error that lists all such bindings.
   */
  readonly onInvalidRoute?: (problem: RouteProblem) => void;
  /**
   * Receives each pair of routes that match the same request, if neither is narrower (see {@link findConflicts}).
   * Without this callback, the creation of the handler throws an Error that lists the first 100 conflicts. With it, the
   * handler serves both routes of a pair. A request that matches both is answered by one of them:
   * - A route with a custom verb (`:rename`) answers before a route without one.
   * - Otherwise, the leftmost segment at which the routes differ decides: a literal answers before `*`, and `*` before
   *   `**`.
   * - Of two equal routes, the first one answers.
   */
  readonly onConflict?: (problem: RouteProblem) => void;
}

/** Maximum number of conflicts that an error lists. */
const mostConflicts = 100;

/**
 * Compiles the bindings of methods. `basePath` is "" or literal segments such as "/api/v1". Throws if `basePath` or
 * `options.rules` is invalid. Throws one Error that lists the invalid bindings and the first 100 conflicts, except
 * those that a callback in the options receives.
 */
export function createRouteTable(
  basePath: string,
  methods: readonly DescMethod[],
  options: TableOptions = {},
): RouteTable {
  checkBasePath(basePath);
  const problems: string[] = [];
  const refuse = (problem: RouteProblem) => void problems.push(describeProblem(problem));
  const routes = collectRoutes(basePath, methods, options.onInvalidRoute ?? refuse, options);
  const most = options.onConflict === undefined ? mostConflicts : Number.POSITIVE_INFINITY;
  const conflicts = findConflicts(routes, most + 1);
  for (const conflict of conflicts.slice(0, most)) (options.onConflict ?? refuse)(conflictProblem(conflict));
  if (conflicts.length > most) problems.push(`only the first ${most} conflicts are listed`);
  if (problems.length > 0) throw new Error(`the REST routes cannot be served:\n  ${problems.join("\n  ")}`);
  const root = createNode();
  return { root, routes: routes.filter((route) => addRoute(root, route)) };
}

/**
 * Matches a raw path. Of several matching routes, returns the narrowest. If none is the narrowest, returns the route
 * that {@link TableOptions.onConflict} describes.
 * - Each segment is decoded once and compared to the decoded literals. A segment with invalid percent-encoding matches
 *   only wildcards. The reader of the path then reports the invalid percent-encoding.
 * - The last raw ":" in the last segment starts a custom verb if a matching route has that verb. Otherwise, it is part
 *   of the segment. In a route with a verb, such as `/books/**:rename`, `**` matches at least one segment.
 * - The path `/` has no segments, so only `/` and `/**` match it.
 * - Empty segments (a double or trailing slash) match nothing.
 */
export function matchRoute(table: RouteTable, httpMethod: string, rawPath: string): RouteOutcome {
  if (!rawPath.startsWith("/")) return undefined;
  const segments = rawPath === "/" ? [] : rawPath.slice(1).split("/");
  if (segments.includes("")) return undefined;
  const otherMethods = new Set<string>();
  const match =
    matchWithVerb(table.root, { segments, httpMethod, otherMethods }) ??
    matchFrom(table.root, 0, { segments, verb: "", httpMethod, otherMethods });
  if (match !== undefined) return match;
  return otherMethods.size > 0 ? { allow: [...otherMethods].toSorted() } : undefined;
}

function checkBasePath(basePath: string): void {
  if (basePath === "") return;
  const { segments, verb } = parsePathTemplate(basePath);
  if (segments.length === 0 || verb !== undefined || segments.some(({ kind }) => kind !== "literal")) {
    throw new Error(`the base path "${basePath}" must be made of literal segments`);
  }
}

function createNode(): RouteNode {
  return { literals: new Map(), single: undefined, ends: new Map(), rest: new Map() };
}

/** Adds a route to the tree. Returns false, and adds nothing, if the tree already contains an equal route. */
function addRoute(root: RouteNode, route: Route): boolean {
  const verb = route.template.verb ?? "";
  let node = root;
  let leaves: RoutesByVerb | undefined;
  for (const segment of route.template.segments) {
    if (segment.kind === "rest") leaves = node.rest;
    else node = segment.kind === "single" ? singleChild(node) : literalChild(node, segment.text);
  }
  leaves ??= node.ends;
  const byMethod = leaves.get(verb) ?? new Map<string, Route>();
  if (byMethod.has(route.httpMethod)) return false;
  leaves.set(verb, byMethod.set(route.httpMethod, route));
  return true;
}

function singleChild(node: RouteNode): RouteNode {
  node.single ??= createNode();
  return node.single;
}

function literalChild(node: RouteNode, text: string): RouteNode {
  const child = node.literals.get(text) ?? createNode();
  node.literals.set(text, child);
  return child;
}

function matchWithVerb(root: RouteNode, search: Omit<Search, "verb">): RouteMatch | undefined {
  const last = search.segments.at(-1) ?? "";
  const colon = last.lastIndexOf(":");
  if (colon < 1 || colon === last.length - 1) return undefined;
  const verb = percentDecode(last.slice(colon + 1));
  if (verb === undefined) return undefined;
  return matchFrom(root, 0, { ...search, verb, segments: [...search.segments.slice(0, -1), last.slice(0, colon)] });
}

function matchFrom(node: RouteNode, depth: number, search: Search): RouteMatch | undefined {
  const segment = search.segments[depth];
  if (segment === undefined)
    return take(node.ends, search) ?? (search.verb === "" ? take(node.rest, search) : undefined);
  const text = node.literals.size === 0 ? undefined : percentDecode(segment);
  const literal = text === undefined ? undefined : node.literals.get(text);
  return (
    (literal && matchFrom(literal, depth + 1, search)) ??
    (node.single && matchFrom(node.single, depth + 1, search)) ??
    take(node.rest, search)
  );
}

function take(leaves: RoutesByVerb, { segments, verb, httpMethod, otherMethods }: Search): RouteMatch | undefined {
  const byMethod = leaves.get(verb);
  if (byMethod === undefined) return undefined;
  const route = byMethod.get(httpMethod) ?? byMethod.get("*");
  if (route !== undefined) return { route, segments };
  for (const method of byMethod.keys()) otherMethods.add(method);
  return undefined;
}

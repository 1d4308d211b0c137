import type { Route } from "./routes.js";

/** Routes, indexed by the segments of their templates. */
export interface Neighbourhood {
  /**
   * Returns all added routes that match at least one path that `route` also matches. Can also return other routes. The
   * routes are in the order in which they were added.
   */
  near(route: Route): Route[];
  add(route: Route): void;
}

interface TreeNode {
  readonly literals: Map<string, TreeNode>;
  single: TreeNode | undefined;
  readonly ends: Neighbour[];
  readonly rests: Neighbour[];
}

interface Neighbour {
  readonly route: Route;
  readonly order: number;
}

/**
 * Creates an index that keeps routes in a tree of their segments. The cost of `near` depends on the number of similar
 * routes, not on the number of all routes.
 */
export function createNeighbourhood(): Neighbourhood {
  const root = createNode();
  let count = 0;
  return {
    near: (route) => {
      const found: Neighbour[] = [];
      collectNear(root, segmentsOf(route), 0, found);
      return found.toSorted((a, b) => a.order - b.order).map((neighbour) => neighbour.route);
    },
    add: (route) => {
      const segments = segmentsOf(route);
      const open = segments.at(-1) === rest;
      const node = (open ? segments.slice(0, -1) : segments).reduce(childOf, root);
      (open ? node.rests : node.ends).push({ route, order: count++ });
    },
  };
}

const single = Symbol("*");
const rest = Symbol("**");
type Segment = string | typeof single | typeof rest;

/**
 * Returns the segments of a route. If the last segment is a literal, the custom verb of the route is appended to it.
 * (In the route `/a:b`, the custom verb is `b`.) So `near` finds `/a%3Ab` for `/a:b`.
 */
function segmentsOf({ template: { segments, verb } }: Route): Segment[] {
  return segments.map((segment, index) => {
    if (segment.kind !== "literal") return segment.kind === "single" ? single : rest;
    return verb !== undefined && index === segments.length - 1 ? `${segment.text}:${verb}` : segment.text;
  });
}

function createNode(): TreeNode {
  return { literals: new Map(), single: undefined, ends: [], rests: [] };
}

function childOf(node: TreeNode, segment: Segment): TreeNode {
  if (typeof segment !== "string") {
    node.single ??= createNode();
    return node.single;
  }
  const child = node.literals.get(segment) ?? createNode();
  node.literals.set(segment, child);
  return child;
}

function collectNear(node: TreeNode, segments: readonly Segment[], depth: number, found: Neighbour[]): void {
  found.push(...node.rests);
  const segment = segments[depth];
  if (segment === undefined) found.push(...node.ends);
  else if (segment === rest) collectBelow(node, found);
  else {
    const literal = typeof segment === "string" ? node.literals.get(segment) : undefined;
    const literals = typeof segment === "string" ? (literal === undefined ? [] : [literal]) : node.literals.values();
    for (const child of literals) collectNear(child, segments, depth + 1, found);
    if (node.single !== undefined) collectNear(node.single, segments, depth + 1, found);
  }
}

function collectBelow(node: TreeNode, found: Neighbour[]): void {
  found.push(...node.ends);
  for (const child of [...node.literals.values(), ...(node.single === undefined ? [] : [node.single])]) {
    found.push(...child.rests);
    collectBelow(child, found);
  }
}

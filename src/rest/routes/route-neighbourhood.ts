import type { Route } from "./routes.js";

/** Routes by what their paths begin with. */
export interface Neighbourhood {
  /** The routes added so far that could match a path that this one matches, and maybe others, in the order they were added. */
  near(route: Route): Route[];
  add(route: Route): void;
}

interface Place {
  readonly literals: Map<string, Place>;
  single: Place | undefined;
  readonly ends: Neighbour[];
  readonly rests: Neighbour[];
}

interface Neighbour {
  readonly route: Route;
  readonly order: number;
}

/**
 * Keeps routes in a tree of their segments, so that finding those near to one costs as much as there are, and not a look at
 * every other route.
 */
export function createNeighbourhood(): Neighbourhood {
  const root = createPlace();
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
      const place = (open ? segments.slice(0, -1) : segments).reduce(childOf, root);
      (open ? place.rests : place.ends).push({ route, order: count++ });
    },
  };
}

const single = Symbol("*");
const rest = Symbol("**");
type Segment = string | typeof single | typeof rest;

/** A verb is a part of a literal before it: `/a:b` and `/a%3Ab` are near. */
function segmentsOf({ template: { segments, verb } }: Route): Segment[] {
  return segments.map((segment, index) => {
    if (segment.kind !== "literal") return segment.kind === "single" ? single : rest;
    return verb !== undefined && index === segments.length - 1 ? `${segment.text}:${verb}` : segment.text;
  });
}

function createPlace(): Place {
  return { literals: new Map(), single: undefined, ends: [], rests: [] };
}

function childOf(place: Place, segment: Segment): Place {
  if (typeof segment !== "string") {
    place.single ??= createPlace();
    return place.single;
  }
  const child = place.literals.get(segment) ?? createPlace();
  place.literals.set(segment, child);
  return child;
}

function collectNear(place: Place, segments: readonly Segment[], depth: number, found: Neighbour[]): void {
  found.push(...place.rests);
  const segment = segments[depth];
  if (segment === undefined) found.push(...place.ends);
  else if (segment === rest) collectBelow(place, found);
  else {
    const literal = typeof segment === "string" ? place.literals.get(segment) : undefined;
    const literals = typeof segment === "string" ? (literal === undefined ? [] : [literal]) : place.literals.values();
    for (const child of literals) collectNear(child, segments, depth + 1, found);
    if (place.single !== undefined) collectNear(place.single, segments, depth + 1, found);
  }
}

function collectBelow(place: Place, found: Neighbour[]): void {
  found.push(...place.ends);
  for (const child of [...place.literals.values(), ...(place.single === undefined ? [] : [place.single])]) {
    found.push(...child.rests);
    collectBelow(child, found);
  }
}

import type { PathSegment } from "./path-template.js";
import type { Route } from "./routes.js";

/**
 * Finds the pairs of routes that could match the same request while neither is strictly narrower than the other, a line
 * each. Where one is (`/books/search` in `/books/{id}`, `/books/{id}:rename` in `/books/{id}`, GET in every method), the
 * narrower one answers what both match.
 */
export function findConflicts(routes: readonly Route[]): string[] {
  return routes.flatMap((a, index) =>
    routes
      .slice(index + 1)
      .filter((b) => overlap(a, b) && covers(a, b) === covers(b, a))
      .map((b) => `${describe(a)} and ${describe(b)} match the same requests, and neither is narrower`),
  );
}

function describe({ method, httpMethod, template }: Route): string {
  return `${httpMethod} ${template.source} (${method.parent.typeName}/${method.name})`;
}

function overlap(a: Route, b: Route): boolean {
  if (a.httpMethod !== b.httpMethod && a.httpMethod !== "*" && b.httpMethod !== "*") return false;
  return lengths(a, b).some((length) => {
    const [ofA, ofB] = [expand(a, length), expand(b, length)];
    return ofA !== undefined && ofB !== undefined && verbsMeet(a, b, ofA, ofB) && ofA.every((s, i) => meet(s, ofB[i]));
  });
}

/** Whether `wide` matches everything that `narrow` matches. */
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

/** Every number of segments at which the two can differ: past the longer one, `**` only repeats itself. */
function lengths(a: Route, b: Route): number[] {
  const longest = Math.max(a.template.segments.length, b.template.segments.length) + 1;
  return Array.from({ length: longest }, (_, index) => index + 1);
}

/** What the route's template is for a path of so many segments, `**` written out; undefined where none matches. */
function expand({ template }: Route, length: number): PathSegment[] | undefined {
  const fixed = template.segments.filter(({ kind }) => kind !== "rest");
  const open = fixed.length < template.segments.length;
  const shortest = fixed.length + (open && template.verb !== undefined ? 1 : 0);
  if (open ? shortest > length : shortest !== length) return undefined;
  return [...fixed, ...Array.from({ length: length - fixed.length }, () => ({ kind: "single" }) as const)];
}

function meet(a: PathSegment, b: PathSegment | undefined): boolean {
  return a.kind !== "literal" || b?.kind !== "literal" || a.text === b.text;
}

/** A verb is a part of the last segment for a route that has none, and only a wildcard can take it. */
function verbsMeet(a: Route, b: Route, ofA: PathSegment[], ofB: PathSegment[]): boolean {
  if (a.template.verb === b.template.verb) return true;
  if (a.template.verb === undefined) return ofA.at(-1)?.kind === "single";
  if (b.template.verb === undefined) return ofB.at(-1)?.kind === "single";
  return false;
}

import type { OpenApiRoute, RouteSegment, RouteVariable } from "../route.js";

/** A parameter in a path. */
export interface PathParameter {
  readonly name: string;
  /** The index of its segment in the template. */
  readonly index: number;
  /** The variable that contains the parameter; undefined for a bare `*` or `**`. */
  readonly variable: RouteVariable | undefined;
  /** Whether the parameter is the whole value of the variable. */
  readonly isWhole: boolean;
  /** Whether its value can have several segments: `**`. */
  readonly isRest: boolean;
}

/** A route's path in OpenAPI: `/v1/shelves/{shelf}/books/{book}:rename`. */
export interface RoutePath {
  readonly path: string;
  readonly parameters: readonly PathParameter[];
}

/**
 * Returns the path of a route without its first `skipped` segments.
 *
 * In OpenAPI a parameter is one segment. A variable with several segments, such as `{name=shelves/*\/books/*}`, becomes
 * one parameter per wildcard. Each is named after the collection before its wildcard, as in AIP-122: `shelf` and
 * `book`.
 */
export function routePath({ template, variables }: OpenApiRoute, skipped: number): RoutePath {
  const parameters: PathParameter[] = [];
  const used = new Set<string>();
  const texts = template.segments.slice(skipped).map((segment, offset) => {
    if (segment.kind === "literal") return encodeLiteral(segment.text);
    const index = skipped + offset;
    const variable = variables.find(({ start, end }) => start <= index && index < (end ?? Infinity));
    const last = variable?.end ?? template.segments.length;
    const isWhole = variable !== undefined && last - variable.start === 1;
    const name = unused(nameOf(template.segments, index, variable, isWhole), used);
    used.add(name);
    parameters.push({ name, index, variable, isWhole, isRest: segment.kind === "rest" });
    return `{${name}}`;
  });
  const verb = template.verb === undefined ? "" : `:${encodeLiteral(template.verb)}`;
  return { path: `/${texts.join("/")}${verb}`, parameters };
}

/**
 * Returns a path with the parameter names of an earlier path. The two paths differ only in these names, so OpenAPI
 * treats them as the same path.
 */
export function withNamesOf(earlier: RoutePath, { parameters }: RoutePath): RoutePath {
  const renamed = parameters.map((each, index) => ({ ...each, name: earlier.parameters[index]?.name ?? each.name }));
  return { path: earlier.path, parameters: renamed };
}

/** Returns the JSON path of the field that a variable fills. */
export function variableName({ fields }: RouteVariable): string {
  return fields.map(({ jsonName }) => jsonName).join(".");
}

function nameOf(
  segments: readonly RouteSegment[],
  index: number,
  variable: RouteVariable | undefined,
  isWhole: boolean,
): string {
  if (variable !== undefined && (isWhole || segments[index]?.kind === "rest")) return variableName(variable);
  const before = segments[index - 1];
  const isInside = variable === undefined || index > variable.start;
  if (isInside && before?.kind === "literal") return singular(camelCase(before.text));
  return variable === undefined ? "segment" : variableName(variable);
}

function camelCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return (
    words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("") ||
    "segment"
  );
}

function singular(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:s|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  if (word.endsWith("lves")) return `${word.slice(0, -3)}f`;
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

/**
 * Percent-encodes characters that a path segment cannot contain (RFC 3986). Also encodes braces, because OpenAPI would
 * read them as parameters.
 */
function encodeLiteral(text: string): string {
  return encodeURIComponent(text).replace(/%(?:24|26|2B|2C|3B|3D|40)/g, decodeURIComponent);
}

function unused(name: string, used: ReadonlySet<string>): string {
  let candidate = name;
  for (let n = 2; used.has(candidate); n++) candidate = `${name}${n}`;
  return candidate;
}

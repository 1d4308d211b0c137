import type { OpenApiRoute, RouteSegment, RouteVariable } from "../route.js";

/** A `{parameter}` of an OpenAPI path. */
export interface PathParameter {
  readonly name: string;
  /** The index of the parameter's segment in the template of the route. */
  readonly index: number;
  /** The variable of the route that the parameter belongs to; undefined for a `*` or `**` outside of variables. */
  readonly variable: RouteVariable | undefined;
  /** Whether the parameter is the whole value of the variable. */
  readonly isWhole: boolean;
  /** Whether the value of the parameter can have several segments, because its pattern is `**`. */
  readonly isRest: boolean;
}

/** A route's path in OpenAPI: `/v1/shelves/{shelf}/books/{book}:rename`. */
export interface RoutePath {
  readonly path: string;
  readonly parameters: readonly PathParameter[];
}

/**
 * Returns the OpenAPI path of a route without its first `skipped` segments. In OpenAPI a parameter is one segment. So
 * `{name=shelves/*\/books/*}` becomes `shelves/{shelf}/books/{book}`, with one parameter for each wildcard.
 *
 * The names of parameters:
 * - for a `*` directly after a literal of its variable: the singular of the literal (AIP-122)
 * - for any other wildcard in a variable: the name of the variable
 * - for a wildcard outside of variables: the singular of the literal directly before it. Without such a literal, the
 *   name is `segment`.
 *
 * A name that is already used gets a number.
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
 * Returns the path with the parameter names of `earlier`. The two paths must differ only in these names: OpenAPI treats
 * such paths as one path.
 */
export function withNamesOf(earlier: RoutePath, { parameters }: RoutePath): RoutePath {
  const renamed = parameters.map((each, index) => ({ ...each, name: earlier.parameters[index]?.name ?? each.name }));
  return { path: earlier.path, parameters: renamed };
}

/** Returns the JSON path of the field that receives the value of a variable, such as `book.shelfId`. */
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
 * Percent-encodes characters that a path segment cannot contain (RFC 3986), such as braces. OpenAPI would read braces
 * as a parameter. Also encodes the colon, because a colon separates the path from the verb, as in `/v1/books/1:rename`.
 */
function encodeLiteral(text: string): string {
  return encodeURIComponent(text).replace(/%(?:24|26|2B|2C|3B|3D|40)/g, decodeURIComponent);
}

function unused(name: string, used: ReadonlySet<string>): string {
  let candidate = name;
  for (let n = 2; used.has(candidate); n++) candidate = `${name}${n}`;
  return candidate;
}

import { create, type DescField, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { type Fields, fieldsOf } from "./json/message-fields.js";
import type { JsonTree } from "./json/read-json.js";
import { createFieldReader, createMessageReader, type ReadRules } from "./json/read-message.js";
import { type BodyLimits, readJsonBody } from "./read-json-body.js";
import { createPathReader } from "./read-path.js";
import { readQuery } from "./read-query.js";
import { malformed, RestError } from "./rest-error.js";
import type { RestRequest } from "./rest-message.js";
import type { Route } from "./routes/routes.js";
import { fillUpdateMask, updateMaskField } from "./update-mask.js";
import { noViolations, type Violations } from "./violations/collect-violations.js";
import { listViolations } from "./violations/list-violations.js";
import type { Violation } from "./violations/violation.js";

/** Options of binding, in addition to the route. */
export interface BindOptions extends BodyLimits, Pick<ReadRules, "maxItems"> {
  /**
   * Compiles the validation of messages whose JSON could be read only in part, so that one answer lists every
   * violation. The compiled function returns all violations, in any order of fields. Defaults to none.
   */
  validate?<D extends DescMessage>(schema: D): (message: MessageShape<D>) => readonly Violation[];
  /**
   * Returns whether a top-level string field of the path accepts any text, including U+0000. Such a text is then an
   * unknown id, not a violation. Defaults to no field.
   */
  takesAnyText?(field: DescField): boolean;
}

/** A request whose path matched a route. */
export interface RoutedRequest {
  readonly http: RestRequest;
  /** The raw path segments, as the route matched them. */
  readonly segments: readonly string[];
  /** The raw query, without its question mark. */
  readonly query: string;
}

/** Builds the request message of a route. Rejects with a {@link RestError}. */
export type BindRequest = (request: RoutedRequest) => Promise<Message>;

type ReadTree = (tree: JsonTree, request: Fields, violations: Violations) => void;

/**
 * Compiles a function that builds the request message of a route. Path, query and body are disjoint: each field is read
 * from one of them only.
 *
 * Errors, in this order:
 * - MALFORMED: the path, the query or a header is invalid, or the body is not JSON.
 * - INVALID: the body is JSON but violates the schema. It lists every violation, including those of `validate`.
 * - MALFORMED instead of INVALID: `validate` reports a field of the path, because then the address is wrong for every
 *   body.
 */
export function createBinder(route: Route, options: BindOptions): BindRequest {
  const schema = route.method.input;
  const readPath = createPathReader(route, options.takesAnyText);
  const readParameters = createQueryReader(route, options);
  const readTree = createTreeReader(route, options);
  const validate = options.validate?.(schema);
  return async ({ http, segments, query }) => {
    const message = create(schema);
    const request = fieldsOf(message);
    const violations = noViolations();
    readPath(segments, request, violations);
    if (query !== "") readParameters(query, request, violations);
    if (violations.items.length > 0) throw malformedAddress(listViolations(schema, [], violations.items));
    if (readTree === undefined) {
      await http.readBody(0);
      return message;
    }
    readTree(await readJsonBody(http, options), request, violations);
    if (violations.items.length > 0) throw invalid(route, violations, validate?.(message) ?? []);
    return message;
  };
}

function createQueryReader({ method, body, variables }: Route, { maxDepth, maxItems }: BindOptions) {
  const schema = method.input;
  const ofPath = variables.map(({ fields }) => fields);
  const ofBody = typeof body === "string" ? [] : [[body]];
  const excluded = body === "message" ? schema.fields.map((field) => [field]) : [...ofPath, ...ofBody];
  return (query: string, request: Fields, violations: Violations) =>
    readQuery({ schema, excluded, maxDepth, maxItems }, query, request, violations);
}

function createTreeReader(route: Route, { maxItems }: BindOptions): ReadTree | undefined {
  const { method, body, httpMethod } = route;
  const inPath = route.variables.map(({ fields }) => fields);
  if (body === "none") return undefined;
  if (body !== "message") {
    const excluded = inPath.filter(([first]) => first === body).map((path) => path.slice(1));
    const { step, read } = createFieldReader(body, { excluded, maxItems, partial: httpMethod === "PATCH" });
    return (tree, request, violations) => read(tree, request, { parent: undefined, step }, violations);
  }
  const mask = updateMaskField(route);
  const read = createMessageReader(method.input, {
    excluded: mask === undefined ? inPath : [...inPath, [mask]],
    maxItems,
  });
  if (mask === undefined) return (tree, request, violations) => read(tree, request, undefined, violations);
  const candidates = method.input.fields.filter(
    (f) => f !== mask && !inPath.some((path) => path.length === 1 && path[0] === f),
  );
  return (tree, request, violations) => {
    read(tree, request, undefined, violations);
    fillUpdateMask(mask, candidates, tree, request);
  };
}

function malformedAddress(violations: readonly Violation[]): RestError {
  return malformed("A path or query parameter is invalid.", violations);
}

function invalid({ method, pathFields }: Route, { items }: Violations, judged: readonly Violation[]): RestError {
  const ofPath = judged.filter(({ field }) => pathFields.includes(field));
  if (ofPath.length > 0) return malformedAddress(listViolations(method.input, ofPath));
  const violations = listViolations(method.input, judged, items);
  return new RestError("INVALID", "The body does not match the schema of this operation's request.", { violations });
}

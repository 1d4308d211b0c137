import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type Fields, fieldsOf } from "./json/message-fields.js";
import type { JsonTree } from "./json/read-json.js";
import { createFieldReader, createMessageReader, type Excluded } from "./json/read-message.js";
import { type NodeRequest, readBody } from "./read-body.js";
import { type BodyLimits, readJsonBody } from "./read-json-body.js";
import { createPathReader } from "./read-path.js";
import { readQuery } from "./read-query.js";
import { malformed, RestError, type Violation } from "./rest-error.js";
import type { Route } from "./routes/routes.js";
import { fillUpdateMask, updateMaskField } from "./update-mask.js";
import { createFindings, type Findings } from "./violations/findings.js";
import { orderViolations } from "./violations/order-violations.js";

/** What binding needs beside the route. */
export interface BindOptions extends BodyLimits {
  /** Judges a message in which not everything could be read, so that one answer can list everything that is wrong. */
  validate(schema: DescMessage, message: Message): readonly Violation[];
}

/** A request whose path has matched a route. */
export interface RoutedRequest {
  readonly node: NodeRequest;
  /** Of the path, raw, as the route matched them. */
  readonly segments: readonly string[];
  /** Raw, without its question mark. */
  readonly query: string;
}

/** Makes the request message of a route. Rejects with a {@link RestError}. */
export type BindRequest = (request: RoutedRequest) => Promise<Message>;

type ReadTree = (tree: JsonTree, request: Fields, findings: Findings) => void;

/**
 * Compiles the way from a request to its message. Path, query and body are disjoint: what one of them fills is unknown to the
 * others. Wrong in the path, the query or the headers, or a body that is not JSON: MALFORMED, in this order. A body that is
 * no such message: INVALID with everything that is wrong, what `validate` finds included; MALFORMED where that is in a field
 * of the path, since then the address is wrong whatever the body says.
 */
export function createBinder(route: Route, options: BindOptions): BindRequest {
  const schema = route.method.input;
  const readPath = createPathReader(route);
  const readParameters = createQueryReader(route, options.maxDepth);
  const readTree = createTreeReader(route);
  return async ({ node, segments, query }) => {
    const message = create(schema);
    const request = fieldsOf(message);
    const findings = createFindings();
    readPath(segments, request, findings);
    if (query !== "") readParameters(query, request, findings);
    if (findings.items.length > 0) throw malformedAddress(orderViolations(schema, findings.items, []));
    if (readTree === undefined) {
      await readBody(node, 0);
      return message;
    }
    readTree(await readJsonBody(node, options), request, findings);
    if (findings.items.length > 0) throw invalid(route, findings, options.validate(schema, message));
    return message;
  };
}

function createQueryReader({ method, body, pathFields }: Route, maxDepth: number) {
  const ofBody = typeof body === "string" ? [] : [body.jsonName];
  const schema = method.input;
  const excluded = body === "message" ? schema.fields.map(({ jsonName }) => jsonName) : [...pathFields, ...ofBody];
  return (query: string, request: Fields, findings: Findings) =>
    readQuery({ schema, excluded, maxDepth }, query, request, findings);
}

function createTreeReader(route: Route): ReadTree | undefined {
  const { method, body } = route;
  const inPath: Excluded = route.variables.map(({ fields }) => fields);
  if (body === "none") return undefined;
  if (body !== "message") {
    const within = inPath.filter(([first]) => first === body).map((path) => path.slice(1));
    const { step, read } = createFieldReader(body, within);
    return (tree, request, findings) => read(tree, request, { parent: undefined, step }, findings);
  }
  const mask = updateMaskField(route);
  const read = createMessageReader(method.input, mask === undefined ? inPath : [...inPath, [mask]]);
  if (mask === undefined) return (tree, request, findings) => read(tree, request, undefined, findings);
  const candidates = method.input.fields.filter(
    (f) => f !== mask && !inPath.some((path) => path.length === 1 && path[0] === f),
  );
  return (tree, request, findings) => {
    read(tree, request, undefined, findings);
    fillUpdateMask(mask, candidates, tree, request);
  };
}

function malformedAddress(violations: readonly Violation[]): RestError {
  return malformed("A parameter of the path or the query cannot be accepted.", violations);
}

function invalid({ method, pathFields }: Route, findings: Findings, judged: readonly Violation[]): RestError {
  const ofPath = judged.filter(({ field }) => pathFields.includes(field));
  if (ofPath.length > 0) return malformedAddress(ofPath);
  const violations = orderViolations(method.input, findings.items, judged);
  return new RestError("INVALID", "The body is not a message of this operation.", { violations });
}

import { create, type DescField, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { type Fields, fieldsOf } from "./json/message-fields.js";
import type { ReadRules } from "./json/read-message.js";
import { createBodyReader } from "./read-body-fields.js";
import { httpBodyReader } from "./read-http-body.js";
import { type BodyLimits, readJsonBody } from "./read-json-body.js";
import { createPathReader } from "./read-path.js";
import { createQueryReader } from "./read-query.js";
import { type ProfileOptions, type RequestProfile, requestProfile } from "./request-profile.js";
import { malformed, RestError } from "./rest-error.js";
import type { RestRequest } from "./rest-message.js";
import type { Route } from "./routes/routes.js";
import { noViolations, type Violations } from "./violations/collect-violations.js";
import { listViolations } from "./violations/list-violations.js";
import type { Violation } from "./violations/violation.js";

/** Options of binding, in addition to the route. */
export interface BindOptions extends BodyLimits, ProfileOptions, Pick<ReadRules, "maxItems" | "registry"> {
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

/**
 * Compiles a function that builds the request message of a route. In the strict profile path, query and body are
 * disjoint: each field is read from one of them only. In the protojson profile a field of the path may be in the others
 * too, where it is ignored.
 *
 * Errors, in this order:
 * - MALFORMED: the path, the query or a header is invalid, or the body is not JSON.
 * - INVALID: the body is JSON but violates the schema. It lists every violation, including those of `validate`.
 * - MALFORMED instead of INVALID: `validate` reports a field of the path, because then the address is wrong for every
 *   body.
 */
export function createBinder(route: Route, options: BindOptions): BindRequest {
  const profile = requestProfile(options);
  const schema = route.method.input;
  const readAddress = createAddressReader(route, options, profile);
  const validate = options.validate?.(schema);
  const readHttpBody = httpBodyReader(route, options.maxBodyBytes);
  const readBody = readHttpBody === undefined ? createBodyReader(route, options, profile) : undefined;
  return async (routed) => {
    const message = create(schema);
    const request = fieldsOf(message);
    const violations = noViolations();
    readAddress(routed, request, violations);
    if (readBody !== undefined) {
      readBody(await readJsonBody(routed.http, options), request, violations);
      if (violations.items.length > 0) throw invalid(route, violations, validate?.(message) ?? []);
    } else if (readHttpBody !== undefined) await readHttpBody(routed.http, request);
    else await routed.http.readBody(0);
    return message;
  };
}

/** Compiles the reader of the path and the query. The reader throws if it finds a violation. */
function createAddressReader(
  route: Route,
  options: BindOptions,
  profile: RequestProfile,
): (routed: RoutedRequest, request: Fields, violations: Violations) => void {
  const { input } = route.method;
  const readPath = createPathReader(route, profile.json, options.takesAnyText);
  const readQuery = createQueryReader(queryRules(route, options, profile));
  return ({ segments, query }, request, violations) => {
    readPath(segments, request, violations);
    if (query !== "") readQuery(query, request, violations);
    if (violations.items.length > 0) throw malformedAddress(listViolations(input, [], violations.items));
  };
}

function queryRules({ method, body, variables }: Route, options: BindOptions, profile: RequestProfile) {
  const schema = method.input;
  const ofPath = variables.map(({ fields }) => fields);
  const ofBody = body === "none" ? [] : body === "message" ? schema.fields.map((field) => [field]) : [[body]];
  return {
    schema,
    profile: profile.json,
    ignored: profile.pathWins ? ofPath : [],
    excluded: profile.pathWins ? ofBody : [...ofPath, ...ofBody],
    ignoredNames: profile.ignoredParameters,
    maxDepth: options.maxDepth,
    maxItems: options.maxItems,
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

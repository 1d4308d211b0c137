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

/** Options for building request messages, in addition to the route. */
export interface BindOptions extends BodyLimits, ProfileOptions, Pick<ReadRules, "maxItems" | "registry"> {
  /**
   * Compiles a validator for a message type. The validator is called only if the JSON of a body has violations. An
   * interceptor can validate all other messages. Defaults to none.
   * - The validator receives a message with only the values that could be read.
   * - It returns all violations of this message, in any order. The answer lists them together with the violations of
   *   the JSON, but omits violations of values that could not be read.
   * - If it reports a field of the path, the answer lists only the violations of path fields.
   */
  validate?<D extends DescMessage>(schema: D): (message: MessageShape<D>) => readonly Violation[];
  /**
   * Returns whether a top-level string field in the path accepts every text, including U+0000. In the strict profile, a
   * text with U+0000 is a violation in every other field. Defaults to no field.
   */
  takesAnyText?(field: DescField): boolean;
}

/** A request whose path matched a route. */
export interface RoutedRequest {
  readonly http: RestRequest;
  /** The segments of the path, percent-encoded as the caller sent them, without a custom verb (`:rename`). */
  readonly segments: readonly string[];
  /** The raw query without the question mark; "" if there is none. */
  readonly query: string;
}

/**
 * Builds the request message of a route. Rejects with a {@link RestError} if the request is invalid, and with the error
 * of `readBody` if the body cannot be received.
 */
export type BindRequest = (request: RoutedRequest) => Promise<Message>;

/**
 * Compiles a function that builds the request message of a route. The function rejects with the first of these errors.
 * Each error lists at most 100 violations.
 * - MALFORMED: a parameter of the path or the query is invalid. Lists the violations of both.
 * - UNSUPPORTED_MEDIA_TYPE, TOO_LONG or MALFORMED: the body cannot be read, see {@link readJsonBody} and
 *   {@link httpBodyReader}. MALFORMED also if the route has no body and the request has one.
 * - MALFORMED: the body violates the schema, and `validate` also reports a field of the path. Lists only the violations
 *   of path fields, because correcting the body would not help.
 * - INVALID: the body violates the schema. Lists the violations of the body and those of `validate`.
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

/** Returns a function that reads the path and the query. The function throws a MALFORMED error for violations. */
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

import type { ContextValues } from "@connectrpc/connect";
import { createEndpoint, type Endpoint, type EndpointOptions } from "./endpoint.js";
import { goneSignal } from "./gone-signal.js";
import { isAbandoned, type NodeRequest } from "./read-body.js";
import { splitTarget } from "./request-target.js";
import { RestError } from "./rest-error.js";
import { createRouteTable, matchRoute, type RouteMatch, type RouteTable } from "./routes/route-table.js";
import type { RestService, Route } from "./routes/routes.js";
import { type NodeResponse, type RestResponse, sendResponse } from "./send-response.js";
import { plainHeaders, readHeaders } from "./web-headers.js";

/** Options of a REST handler. */
export interface RestHandlerOptions extends EndpointOptions {
  /** Prefix of every route's path: "" or literal segments such as "/api/v1". */
  readonly basePath: string;
  /** The services to serve. A method without a google.api.http option or without an implementation has no route. */
  readonly services: readonly RestService[];
  /**
   * Creates the context values of a request. It is called first; interceptors and `renderError` receive the same
   * values.
   */
  openValues(request: NodeRequest): ContextValues;
  /** Renders the answer to an error: a {@link RestError}, or an error that an interceptor or implementation threw. */
  renderError(error: unknown, values: ContextValues, match?: RouteMatch): RestResponse;
  /**
   * Returns the request headers that interceptors and implementations see. Defaults to all headers. Override this to
   * avoid building a Headers object that nothing reads.
   */
  headersOf?(request: NodeRequest): Headers;
  /** Headers that every answer has. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

/** Answers a request of Node's HTTP/1.1 or HTTP/2 server. Never rejects. */
export type RestHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>;

interface Compiled {
  readonly options: RestHandlerOptions;
  readonly table: RouteTable;
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
}

/**
 * Compiles services into a handler that serves them by their google.api.http options. Throws when the routes are
 * invalid, see {@link createRouteTable}.
 *
 * A request passes these steps in order:
 * - its route: 404, or 405 with the methods that the path supports
 * - the `onHeaders` interceptors
 * - path, query, headers and body
 * - the `onMessage` interceptors
 * - the implementation
 *
 * Not supported on purpose: method override, bodies that are not JSON, and methods without a binding (HEAD and OPTIONS
 * are 405).
 */
export function createRestHandler(options: RestHandlerOptions): RestHandler {
  const table = createRouteTable(options.basePath, options.services);
  const endpoints = new Map(table.routes.map((route) => [route, createEndpoint(route, options)]));
  const compiled = { options, table, endpoints };
  return async (request, response) => {
    let answer: RestResponse | undefined;
    try {
      answer = await answerRequest(compiled, request, response);
      if (answer !== undefined) sendResponse(request, response, answer, options.maxBodyBytes);
    } catch {
      sendLastResort(options, request, response);
    }
  };
}

async function answerRequest(
  compiled: Compiled,
  request: NodeRequest,
  response: NodeResponse,
): Promise<RestResponse | undefined> {
  const { options } = compiled;
  const signal = goneSignal(request, response);
  const values = options.openValues(request);
  let match: RouteMatch | undefined;
  try {
    const { path, query } = splitTarget(request.url ?? "");
    match = requireRoute(compiled.table, request.method ?? "", path);
    return await answerRoute(compiled, { node: request, query, match, values, signal });
  } catch (error) {
    if (signal.aborted || isAbandoned(request)) return undefined;
    const answer = options.renderError(error, values, match);
    return { ...answer, headers: { ...options.responseHeaders, ...allowHeader(error), ...answer.headers } };
  }
}

function requireRoute(table: RouteTable, httpMethod: string, path: string): RouteMatch {
  const outcome = matchRoute(table, httpMethod, path);
  if (outcome === undefined) throw new RestError("NOT_FOUND", "No resource exists at this path.");
  if ("route" in outcome) return outcome;
  const { allow } = outcome;
  throw new RestError("METHOD_NOT_ALLOWED", `This path supports only ${allow.join(", ")}.`, { allow });
}

function allowHeader(error: unknown): Record<string, string> {
  return error instanceof RestError && error.allow !== undefined ? { allow: error.allow.join(", ") } : {};
}

interface Call {
  readonly node: NodeRequest;
  readonly query: string;
  readonly match: RouteMatch;
  readonly values: ContextValues;
  readonly signal: AbortSignal;
}

async function answerRoute({ options, endpoints }: Compiled, call: Call): Promise<RestResponse> {
  const { node, query, match, values, signal } = call;
  const endpoint = endpoints.get(match.route);
  if (endpoint === undefined) throw new Error("a route has no endpoint");
  const requestHeader = options.headersOf === undefined ? readHeaders(node) : options.headersOf(node);
  const { message, header } = await endpoint.invoke(
    { node, segments: match.segments, query },
    { requestMethod: node.method ?? "", url: node.url ?? "", requestHeader, values, signal },
  );
  const headers = { ...options.responseHeaders, ...plainHeaders(header), "content-type": "application/json" };
  return { status: endpoint.status, headers, body: endpoint.render(message) };
}

function sendLastResort(
  { maxBodyBytes, responseHeaders }: RestHandlerOptions,
  request: NodeRequest,
  response: NodeResponse,
) {
  try {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    sendResponse(request, response, { status: 500, headers: { ...responseHeaders }, body: "" }, maxBodyBytes);
  } catch {
    response.destroy();
  }
}

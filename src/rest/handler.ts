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

/** How a REST handler is made. */
export interface RestHandlerOptions extends EndpointOptions {
  /** "" or literal segments, such as "/api/v1", before the path of every route. */
  readonly basePath: string;
  /** Methods without a google.api.http option, or that the implementation does not have, have no route. */
  readonly services: readonly RestService[];
  /** Called first for every request; interceptors and `renderError` see these same values. */
  openValues(request: NodeRequest): ContextValues;
  /** The answer to whatever was thrown: a {@link RestError}, or what interceptors and implementations throw. */
  renderError(error: unknown, values: ContextValues, match?: RouteMatch): RestResponse;
  /**
   * What interceptors and implementations find as the headers of a request: all that were sent, unless it is given. Whoever
   * has none that read them there, spares their making for each request.
   */
  headersOf?(request: NodeRequest): Headers;
  /** Headers of every answer. */
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
 * Compiles services into a handler that serves them as google.api.http says. Order of a request: its route (404, or 405
 * with the methods the path has); `onHeaders`; path, query, headers and body; `onMessage`; the implementation. Throws where
 * the routes cannot be served, see {@link createRouteTable}.
 *
 * Left out on purpose: method override, bodies that are not JSON, methods that nobody bound (HEAD and OPTIONS are 405).
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
  if (outcome === undefined) throw new RestError("NOT_FOUND", "There is nothing at this path.");
  if ("route" in outcome) return outcome;
  const { allow } = outcome;
  throw new RestError("METHOD_NOT_ALLOWED", `This path is for ${allow.join(", ")} only.`, { allow });
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

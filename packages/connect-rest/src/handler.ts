import { ConnectError, type ConnectRouter, type ContextValues, createContextValues } from "@connectrpc/connect";
import { createEndpoint, type Endpoint, type EndpointOptions } from "./endpoint.js";
import { problemJson } from "./errors/problem-json.js";
import type { RenderError } from "./errors/render-error.js";
import type { ResponseMetadata } from "./invoke.js";
import { plainHeaders, readHeaders } from "./raw-headers.js";
import { splitTarget } from "./request-target.js";
import { RestError } from "./rest-error.js";
import type { RestRequest, RestResponse } from "./rest-message.js";
import { servicesOfRouter } from "./routes/collecting-router.js";
import { implementedMethods, type RestService } from "./routes/rest-service.js";
import {
  createRouteTable,
  matchRoute,
  type RouteMatch,
  type RouteTable,
  type TableOptions,
} from "./routes/route-table.js";
import type { Route } from "./routes/routes.js";

/** Options of a REST handler. Each has a default. The handler serves the services of `services` and of `routes`. */
export interface RestHandlerOptions extends Partial<EndpointOptions>, TableOptions {
  /** The services to serve, see {@link restService}. Only methods with a binding and an implementation have routes. */
  readonly services?: readonly RestService[];
  /**
   * Registers services on a router of Connect, as for `connectNodeAdapter`. The handler serves them in addition to
   * `services`.
   */
  readonly routes?: (router: ConnectRouter) => void;
  /** The prefix of every route's path: literal segments such as "/api/v1". Defaults to "". */
  readonly basePath?: string;
  /** Maximum bytes of a request body. Defaults to 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Maximum nesting depth of JSON, and of the names in a query parameter such as `a.b.c`. Defaults to 100. */
  readonly maxDepth?: number;
  /** Renders the answer to an error. Defaults to {@link problemJson} with the `registry`. */
  readonly errors?: RenderError;
  /** Headers of every answer. An answer that sets a header of the same name keeps its own value. Defaults to none. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /**
   * Returns the request headers that interceptors and implementations receive. Defaults to all headers. Override this
   * to avoid building a Headers object that nothing reads.
   */
  readonly requestHeader?: (request: RestRequest) => Headers;
}

/** Serves the routes of services. */
export interface RestHandler {
  /** All served routes, in the order of their declaration. */
  readonly routes: readonly Route[];
  readonly maxBodyBytes: number;
  /** Returns whether any route matches the path of this request target, with any HTTP method. */
  hasPath(url: string): boolean;
  /** The answer if an error cannot be rendered or an answer cannot be sent: 500 without a body. */
  readonly lastResort: RestResponse;
  /**
   * Answers a request. Resolves to undefined if the request fails and the caller has disconnected. Rejects only if the
   * option `errors` throws.
   */
  handle(request: RestRequest): Promise<RestResponse | undefined>;
}

interface Compiled {
  readonly options: RestHandlerOptions & { readonly errors: RenderError };
  readonly table: RouteTable;
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
}

const DEFAULTS = { maxBodyBytes: 4 * 1024 * 1024, maxDepth: 100 };

/**
 * Compiles services into a handler that serves them by their google.api.http options and by `options.rules`. Throws if
 * an option is invalid, if a method is implemented twice, or if the routes are invalid (see {@link createRouteTable}).
 *
 * A request passes these steps in order:
 * - The route is found by path and method. If there is none, the answer is 404, or 405 if the path supports only other
 *   methods.
 * - The `headerInterceptors` run.
 * - The path variables, the query and the body are read.
 * - The `interceptors` run, then the interceptors of the service.
 * - The implementation runs.
 *
 * Interceptors and the implementation can set headers. A successful answer has all these headers. The answer to a
 * ConnectError has them except `content-*`. The answer to any other error has none of them.
 */
export function createRestHandler(options: RestHandlerOptions): RestHandler {
  const settled = { ...DEFAULTS, ...options, errors: options.errors ?? problemJson({ registry: options.registry }) };
  const methods = implementedMethods([...(options.services ?? []), ...servicesOfRouter(options.routes)]);
  const table = createRouteTable(options.basePath ?? "", [...methods.keys()], options);
  const endpoints = new Map(table.routes.map((route) => [route, createEndpoint(route, methods, settled)]));
  const compiled = { options: settled, table, endpoints };
  return {
    routes: table.routes,
    maxBodyBytes: settled.maxBodyBytes,
    lastResort: { status: 500, headers: options.responseHeaders ?? {}, body: "" },
    hasPath: (url) => matchRoute(table, "", splitTarget(url).path) !== undefined,
    handle: (request) => answerRequest(compiled, request),
  };
}

async function answerRequest(compiled: Compiled, request: RestRequest): Promise<RestResponse | undefined> {
  const { options, table } = compiled;
  const values = request.contextValues ?? createContextValues();
  let match: RouteMatch | undefined;
  const metadata = { header: new Headers(), trailer: new Headers() };
  const renderError = (error: unknown) => options.errors(error, { values, route: match?.route });
  try {
    const { path, query } = splitTarget(request.url);
    match = requireRoute(table, request.method, path);
    return await answerRoute(compiled, { request, query, match, values, metadata, renderError });
  } catch (error) {
    if (request.isGone()) return undefined;
    const answer = renderError(error);
    const kept = error instanceof ConnectError ? withoutContentHeaders(metadata.header) : {};
    return { ...answer, headers: { ...options.responseHeaders, ...kept, ...allowHeader(error), ...answer.headers } };
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

/**
 * Returns the headers without `content-*`. Such headers describe the content of a success, for example
 * Content-Language.
 */
function withoutContentHeaders(header: Headers): RestResponse["headers"] {
  return Object.fromEntries(Object.entries(plainHeaders(header)).filter(([name]) => !name.startsWith("content-")));
}

interface Call {
  readonly request: RestRequest;
  readonly query: string;
  readonly match: RouteMatch;
  readonly values: ContextValues;
  readonly metadata: ResponseMetadata;
  renderError(error: unknown): RestResponse;
}

async function answerRoute({ options, endpoints }: Compiled, call: Call): Promise<RestResponse> {
  const { request, query, match, values, metadata, renderError } = call;
  const endpoint = endpoints.get(match.route);
  if (endpoint === undefined) throw new Error("a route has no endpoint");
  const requestHeader = options.requestHeader?.(request) ?? readHeaders(request.rawHeaders);
  const routed = { http: request, segments: match.segments, query };
  const { method: requestMethod, url, signal } = request;
  const init = { requestMethod, url, requestHeader, values, signal, metadata };
  const { status, headers, body } = await endpoint.answer(routed, init, renderError);
  return { status, headers: { ...options.responseHeaders, ...plainHeaders(metadata.header), ...headers }, body };
}

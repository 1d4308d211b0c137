import type { DescMethod, Message } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { type BindOptions, createBinder, type RoutedRequest } from "./bind-request.js";
import { type Interceptors, interceptorsOf } from "./interceptors.js";
import { createStreamInvoke, createUnaryInvoke, type InvocationInit, type Invoked } from "./invoke.js";
import { createRender, type Render, type Rendered } from "./render.js";
import { requestProfile } from "./request-profile.js";
import type { RestResponse } from "./rest-message.js";
import type { ImplementedMethod } from "./routes/rest-service.js";
import type { Route } from "./routes/routes.js";
import { answerStream, type StreamContent } from "./stream/answer-stream.js";
import type { StreamFormatName } from "./stream/stream-format.js";

/** Options of endpoints, in addition to their routes. */
export interface EndpointOptions extends BindOptions {
  /** Interceptors that run before the path variables, the query and the body are read. Defaults to none. */
  readonly headerInterceptors?: Interceptors;
  /** Interceptors that run after the request message is built. Defaults to none. */
  readonly interceptors?: Interceptors;
  /** Returns the HTTP status of a successful answer, 200 to 299. Defaults to 200. */
  successStatus?(method: DescMethod): number;
  /**
   * The format of the answers of server-streaming methods: "ndjson" is one JSON object per line, `{"result": …}`, "sse"
   * is server-sent events. Defaults to server-sent events for requests whose Accept header names text/event-stream, and
   * NDJSON for others.
   */
  readonly streamFormat?: StreamFormatName;
}

/** A route of a unary method, compiled for serving requests. */
export interface UnaryEndpoint {
  readonly kind: "unary";
  readonly status: number;
  invoke(request: RoutedRequest, init: InvocationInit): Promise<Invoked>;
  render(message: Message): Rendered;
}

/** A route of a server-streaming method, compiled for serving requests. */
export interface StreamEndpoint {
  readonly kind: "stream";
  readonly status: number;
  /**
   * Calls the method. Rejects if it fails before its first response message; `renderError` renders the error of a
   * stream that fails later.
   */
  answer(
    request: RoutedRequest,
    init: InvocationInit,
    renderError: (error: unknown) => RestResponse,
  ): Promise<StreamContent>;
}

/** A route, compiled for serving requests. */
export type Endpoint = UnaryEndpoint | StreamEndpoint;

const routedRequest = createContextKey<RoutedRequest | undefined>(undefined, { description: "rest.routedRequest" });

/**
 * Compiles a route. Calls pass the `headerInterceptors`, then the one that binds the request, then the `interceptors`.
 * No path variable, query or byte of the body is read before the first group accepts the call.
 *
 * Throws when the success status is not from 200 to 299.
 */
export function createEndpoint(
  route: Route,
  methods: ReadonlyMap<DescMethod, ImplementedMethod>,
  options: EndpointOptions,
): Endpoint {
  const { method } = route;
  const implemented = methods.get(method);
  if (implemented === undefined) throw new Error(`${method.name} has no implementation`);
  const status = options.successStatus?.(method) ?? 200;
  if (!Number.isInteger(status) || status < 200 || status > 299) {
    throw new Error(`${method.parent.typeName}/${method.name}: ${status} is not a success status (200 to 299)`);
  }
  const stages = [
    ...interceptorsOf(method, options.headerInterceptors),
    bindInterceptor(route, options),
    ...interceptorsOf(method, options.interceptors),
    ...implemented.interceptors,
  ];
  const compile = method.methodKind === "unary" ? unaryEndpoint : streamEndpoint;
  return compile(status, createRender(route, writeRules(options)), implemented.spec, stages, options);
}

type CompileEndpoint = (
  status: number,
  render: Render,
  spec: MethodImplSpec,
  stages: readonly Interceptor[],
  options: EndpointOptions,
) => Endpoint;

const unaryEndpoint: CompileEndpoint = (status, { render }, spec, stages) => {
  const invoke = createUnaryInvoke(spec, stages, "rest");
  return {
    kind: "unary",
    status,
    render,
    invoke(request, init) {
      init.values.set(routedRequest, request);
      return invoke(init);
    },
  };
};

const streamEndpoint: CompileEndpoint = (status, render, spec, stages, { streamFormat: format }) => {
  const invoke = createStreamInvoke(spec, stages, "rest");
  return {
    kind: "stream",
    status,
    answer(request, init, renderError) {
      init.values.set(routedRequest, request);
      return answerStream({ render, invoke, format }, request.http, init, renderError);
    },
  };
};

function writeRules(options: EndpointOptions) {
  return { profile: requestProfile(options).json, registry: options.registry };
}

function bindInterceptor(route: Route, options: BindOptions): Interceptor {
  const bind = createBinder(route, options);
  return (next) => async (request) => {
    const message = await bind(routedRequestOf(request.contextValues));
    if (request.stream) return next({ ...request, message: streamOf(message) });
    return next({ ...request, message });
  };
}

/** Returns a stream of one message that several interceptors can iterate over. */
function streamOf(message: Message): AsyncIterable<Message> {
  return {
    async *[Symbol.asyncIterator]() {
      yield message;
    },
  };
}

function routedRequestOf(values: ContextValues): RoutedRequest {
  const request = values.get(routedRequest);
  if (request === undefined) throw new Error("an interceptor replaced the context values of the call");
  return request;
}

import type { DescMethod, Message } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { type BindOptions, createBinder, type RoutedRequest } from "./bind-request.js";
import { type EntityTag, type EntityTagOptions, entityTagOf, isKnownTag } from "./entity-tag.js";
import { type Interceptors, interceptorsOf } from "./interceptors.js";
import { createStreamInvoke, createUnaryInvoke, type InvocationInit } from "./invoke.js";
import { lazily } from "./lazily.js";
import { createRender, type Render } from "./render.js";
import { requestProfile } from "./request-profile.js";
import type { RestRequest, RestResponse } from "./rest-message.js";
import type { ImplementedMethod } from "./routes/rest-service.js";
import type { Route } from "./routes/routes.js";
import { answerStream, type StreamMethod } from "./stream/answer-stream.js";
import { type CompiledEventIds, compileEventIds, type EventIdOptions } from "./stream/event-ids.js";
import type { StreamFormatName } from "./stream/stream-format.js";

/** Options of endpoints, in addition to their routes. */
export interface EndpointOptions extends BindOptions, EntityTagOptions, EventIdOptions {
  /** Interceptors that run before the path variables, the query and the body are read. Defaults to none. */
  readonly headerInterceptors?: Interceptors;
  /** Interceptors that run after the request message is built. Defaults to none. */
  readonly interceptors?: Interceptors;
  /** Returns the HTTP status of a successful answer, 200 to 299. Defaults to 200 for every method. */
  successStatus?(method: DescMethod): number;
  /**
   * The format of streams: "ndjson" is one JSON object `{"result": …}` per line; "sse" is server-sent events. By
   * default, the Accept headers of the request decide. They select "sse" if the quality of text/event-stream is above 0
   * and not below the quality of application/x-ndjson. Otherwise, they select "ndjson".
   */
  readonly streamFormat?: StreamFormatName;
}

/** A route, compiled for serving requests. */
export interface Endpoint {
  /**
   * Calls the method and returns its answer. Rejects if a unary call fails, or if a stream fails before its first
   * response message. `renderError` renders the error of a stream that fails later. A stream of
   * google.api.HttpBody then breaks off instead.
   */
  answer(
    request: RoutedRequest,
    init: InvocationInit,
    renderError: (error: unknown) => RestResponse,
  ): Promise<RestResponse>;
}

const routedRequest = createContextKey<RoutedRequest | undefined>(undefined, { description: "rest.routedRequest" });

/**
 * Compiles a route. A call runs through the `headerInterceptors`, the interceptor that builds the request message, the
 * `interceptors`, and the interceptors of the service. They are created at the first call of the route, because
 * creating the interceptors of all routes would delay the start.
 *
 * Throws if `methods` has no implementation of the method, if the success status is not from 200 to 299, or if
 * `options` are invalid.
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
  const eventIds = method.methodKind === "unary" ? undefined : compileEventIds(method, options);
  const stages = () => [
    ...interceptorsOf(method, options.headerInterceptors),
    bindInterceptor(route, options, eventIds),
    ...interceptorsOf(method, options.interceptors),
    ...implemented.interceptors,
  ];
  const render = createRender(route, writeRules(options));
  if (method.methodKind === "unary") {
    return unaryEndpoint(
      { status, render: render.render, tagOf: entityTagOf(route, options) },
      implemented.spec,
      stages,
    );
  }
  return streamEndpoint(status, { render, format: options.streamFormat, eventIds }, implemented.spec, stages);
}

interface UnaryParts {
  readonly status: number;
  readonly render: Render["render"];
  readonly tagOf: EntityTag | undefined;
}

function unaryEndpoint(
  { status, render, tagOf }: UnaryParts,
  spec: MethodImplSpec,
  stages: () => readonly Interceptor[],
): Endpoint {
  const invoke = lazily(() => createUnaryInvoke(spec, stages(), "rest"));
  return {
    async answer(request, init) {
      init.values.set(routedRequest, request);
      const { message } = await invoke()(init);
      const { contentType, body } = render(message);
      const answer = { status, headers: { "content-type": contentType }, body };
      return tagOf === undefined ? answer : withTag(tagOf({ message, body }), answer, request.http);
    },
  };
}

function withTag(etag: string, { headers, ...answer }: RestResponse, { rawHeaders }: RestRequest): RestResponse {
  if (isKnownTag(etag, rawHeaders)) return { status: 304, headers: { etag }, body: "" };
  return { ...answer, headers: { ...headers, etag } };
}

function streamEndpoint(
  status: number,
  parts: Omit<StreamMethod, "invoke">,
  spec: MethodImplSpec,
  stages: () => readonly Interceptor[],
): Endpoint {
  const compiled = lazily(() => createStreamInvoke(spec, stages(), "rest"));
  const method: StreamMethod = { ...parts, invoke: (init) => compiled()(init) };
  return {
    async answer(request, init, renderError) {
      init.values.set(routedRequest, request);
      const { contentType, body } = await answerStream(method, request.http, init, renderError);
      return { status, headers: { "content-type": contentType }, body };
    },
  };
}

function writeRules(options: EndpointOptions) {
  return { profile: requestProfile(options).json, registry: options.registry };
}

function bindInterceptor(route: Route, options: BindOptions, eventIds: CompiledEventIds | undefined): Interceptor {
  const bind = createBinder(route, options);
  return (next) => async (request) => {
    const routed = routedRequestOf(request.contextValues);
    const message = await bind(routed);
    eventIds?.resume(message, routed.http.rawHeaders);
    if (request.stream) return next({ ...request, message: streamOf(message) });
    return next({ ...request, message });
  };
}

/**
 * Returns a stream with one message. Each iteration starts again, so several interceptors can iterate over the stream.
 */
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

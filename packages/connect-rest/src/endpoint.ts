import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey, type Interceptor } from "@connectrpc/connect";
import { type BindOptions, createBinder, type RoutedRequest } from "./bind-request.js";
import { type Interceptors, interceptorsOf } from "./interceptors.js";
import { createUnaryInvoke, type InvocationInit, type Invoked } from "./invoke.js";
import type { WriteMessage } from "./json/write-message.js";
import { createRender } from "./render.js";
import type { ImplementedMethod } from "./routes/rest-service.js";
import type { Route } from "./routes/routes.js";

/** Options of endpoints, in addition to their routes. */
export interface EndpointOptions extends BindOptions {
  /** Interceptors that run before the path variables, the query and the body are read. Defaults to none. */
  readonly headerInterceptors?: Interceptors;
  /** Interceptors that run after the request message is built. Defaults to none. */
  readonly interceptors?: Interceptors;
  /** Returns the HTTP status of a successful answer, 200 to 299. Defaults to 200. */
  successStatus?(method: DescMethod): number;
}

/** A route, compiled for serving requests. */
export interface Endpoint {
  readonly status: number;
  readonly render: WriteMessage;
  invoke(request: RoutedRequest, init: InvocationInit): Promise<Invoked>;
}

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
  const invoke = createUnaryInvoke(implemented.spec, stages, "rest");
  return {
    status,
    render: createRender(route),
    invoke(request, init) {
      init.values.set(routedRequest, request);
      return invoke(init);
    },
  };
}

function bindInterceptor(route: Route, options: BindOptions): Interceptor {
  const bind = createBinder(route, options);
  return (next) => async (request) => {
    if (request.stream) throw new Error("a REST route must have a unary method");
    return next({ ...request, message: await bind(routedRequestOf(request.contextValues)) });
  };
}

function routedRequestOf(values: ContextValues): RoutedRequest {
  const request = values.get(routedRequest);
  if (request === undefined) throw new Error("an interceptor replaced the context values of the call");
  return request;
}

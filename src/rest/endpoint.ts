import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey, type Interceptor } from "@connectrpc/connect";
import { type BindOptions, createBinder, type RoutedRequest } from "./bind-request.js";
import { createInvoke, type InvocationInit, type Invoked } from "./invoke.js";
import type { WriteMessage } from "./json/write-message.js";
import { createRender } from "./render.js";
import type { Route } from "./routes/routes.js";

/** Options of endpoints, in addition to their routes. */
export interface EndpointOptions extends BindOptions {
  /** Interceptors that run before the path variables, the query and the body are read. The first one is outermost. */
  readonly onHeaders: readonly Interceptor[];
  /** Interceptors that run after the request message is built. */
  readonly onMessage: readonly Interceptor[];
  /** The HTTP status of a successful answer, 200 to 299. */
  successStatus(method: DescMethod): number;
}

/** A route, compiled for serving requests. */
export interface Endpoint {
  readonly status: number;
  readonly render: WriteMessage;
  invoke(request: RoutedRequest, init: InvocationInit): Promise<Invoked>;
}

const routedRequest = createContextKey<RoutedRequest | undefined>(undefined, { description: "rest.routedRequest" });

/**
 * Compiles a route. Calls pass the `onHeaders` interceptors, then the one that binds the request, then the `onMessage`
 * interceptors. No path variable, query or byte of the body is read before the first group accepts the call.
 *
 * Throws when the success status is not from 200 to 299.
 */
export function createEndpoint(route: Route, options: EndpointOptions): Endpoint {
  const status = options.successStatus(route.method);
  if (!Number.isInteger(status) || status < 200 || status > 299) {
    throw new Error(
      `${route.method.parent.typeName}/${route.method.name}: ${status} is not a success status (200 to 299)`,
    );
  }
  const invoke = createInvoke(route, [...options.onHeaders, bindInterceptor(route, options), ...options.onMessage]);
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

import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey, type Interceptor } from "@connectrpc/connect";
import { type BindOptions, createBinder, type RoutedRequest } from "./bind-request.js";
import { createInvoke, type InvocationInit, type Invoked } from "./invoke.js";
import type { WriteMessage } from "./json/write-message.js";
import { createRender } from "./render.js";
import type { Route } from "./routes/routes.js";

/** What endpoints need beside their routes. */
export interface EndpointOptions extends BindOptions {
  readonly onHeaders: readonly Interceptor[];
  readonly onMessage: readonly Interceptor[];
  successStatus(method: DescMethod): number;
}

/** A route with everything compiled that a request on it needs. */
export interface Endpoint {
  readonly status: number;
  readonly render: WriteMessage;
  invoke(request: RoutedRequest, init: InvocationInit): Promise<Invoked>;
}

const routedRequest = createContextKey<RoutedRequest | undefined>(undefined, { description: "rest.routedRequest" });

/**
 * Compiles a route. Its interceptors are those for the headers, then one that binds the request, then those for the message:
 * so nothing of path variables, query and body is judged, and no byte of the body is read, before the first group let the
 * call pass. Throws where the status is no success.
 */
export function createEndpoint(route: Route, options: EndpointOptions): Endpoint {
  const status = options.successStatus(route.method);
  if (!Number.isInteger(status) || status < 200 || status > 299) {
    throw new Error(`${route.method.parent.typeName}/${route.method.name}: ${status} is no status of a success`);
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
    if (request.stream) throw new Error("REST has no streams");
    return next({ ...request, message: await bind(routedRequestOf(request.contextValues)) });
  };
}

function routedRequestOf(values: ContextValues): RoutedRequest {
  const request = values.get(routedRequest);
  if (request === undefined) throw new Error("the context values of the call were replaced");
  return request;
}

import { create, type Message } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createMethodImplSpec,
  type HandlerContext,
  type Interceptor,
  type MethodImpl,
  type MethodImplSpec,
} from "@connectrpc/connect";
import { invokeUnaryImplementation } from "@connectrpc/connect/protocol";
import type { Route } from "./routes/routes.js";

/** What an invocation knows of its request. */
export interface InvocationInit {
  readonly requestMethod: string;
  /** The request target as it was sent. */
  readonly url: string;
  readonly requestHeader: Headers;
  readonly values: ContextValues;
  /** Aborts when the caller goes away before the answer is out. */
  readonly signal: AbortSignal;
}

/** The response message, and the headers that interceptors and the implementation set. */
export interface Invoked {
  readonly message: Message;
  readonly header: Headers;
}

/**
 * Compiles the call of a route's implementation, through interceptors, the first of which is outermost. The call starts with
 * an empty request message; one of the interceptors puts the real one in its place. Trailers have no place in REST and are
 * dropped.
 *
 * The one place that relies on `invokeUnaryImplementation`, which Connect exports but does not hold stable: its version is
 * pinned. The context is made here and not by `createHandlerContext`, which builds three abort controllers and copies three
 * header lists for deadlines and shutdown that REST does not have.
 */
export function createInvoke(
  route: Route,
  interceptors: readonly Interceptor[],
): (init: InvocationInit) => Promise<Invoked> {
  const { method, implementation } = route;
  const run = Reflect.get(implementation, method.localName) as MethodImpl<typeof method>;
  return createUnaryInvoke(createMethodImplSpec(method, run.bind(implementation)), interceptors, "rest");
}

/** Compiles the call of any unary method. Throws for one that is not. */
export function createUnaryInvoke(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  protocolName: string,
): (init: InvocationInit) => Promise<Invoked> {
  if (spec.kind !== "unary") throw new Error(`${spec.method.name} is not unary`);
  const { method } = spec;
  const chain = [...interceptors];
  const empty = Object.freeze(create(method.input));
  const timeoutMs = () => undefined;
  return async ({ requestMethod, url, requestHeader, values, signal }) => {
    const context: HandlerContext = {
      method,
      service: method.parent,
      requestMethod,
      url,
      requestHeader,
      values,
      signal,
      protocolName,
      timeoutMs,
      responseHeader: new Headers(),
      responseTrailer: new Headers(),
    };
    const message = await invokeUnaryImplementation(spec, context, empty, chain);
    return { message, header: context.responseHeader };
  };
}

import { create, type Message } from "@bufbuild/protobuf";
import { type ContextValues, type HandlerContext, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { invokeUnaryImplementation } from "@connectrpc/connect/protocol";

/** The request data that an invocation needs. */
export interface InvocationInit {
  readonly requestMethod: string;
  /** The request target, as the caller sent it. */
  readonly url: string;
  readonly requestHeader: Headers;
  readonly values: ContextValues;
  /** Aborts when the caller disconnects before the answer is sent, or when its time limit expires. */
  readonly signal: AbortSignal;
  /** Returns the remaining time of the caller in milliseconds. Defaults to no limit. */
  readonly timeoutMs?: HandlerContext["timeoutMs"];
  /**
   * Receives the metadata that interceptors and the implementation set, including metadata of a failed call. Defaults
   * to new headers.
   */
  readonly metadata?: ResponseMetadata;
}

/** Headers and trailers of an answer. */
export interface ResponseMetadata {
  readonly header: Headers;
  readonly trailer: Headers;
}

/** The response message, and the metadata that interceptors and the implementation set. */
export interface Invoked extends ResponseMetadata {
  readonly message: Message;
}

/**
 * Compiles the call of a unary method through interceptors. The first interceptor is outermost. The call starts with an
 * empty request message, and one interceptor must replace it with the real one. Throws when the method is not unary.
 *
 * Only this file uses `invokeUnaryImplementation`: Connect exports it without a stability promise. The context is not
 * made by `createHandlerContext`. That function builds three abort controllers and copies three header lists for
 * deadlines and shutdown, which not every protocol has.
 */
export function createUnaryInvoke(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  protocolName: string,
): (init: InvocationInit) => Promise<Invoked> {
  if (spec.kind !== "unary") throw new Error(`${spec.method.name} is not unary`);
  const { method } = spec;
  const chain = [...interceptors];
  const empty = Object.freeze(create(method.input));
  return async (init) => {
    const { requestMethod, url, requestHeader, values, signal, timeoutMs = () => undefined } = init;
    const { header, trailer } = init.metadata ?? { header: new Headers(), trailer: new Headers() };
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
      responseHeader: header,
      responseTrailer: trailer,
    };
    const message = await invokeUnaryImplementation(spec, context, empty, chain);
    return { message, header, trailer };
  };
}

import { create, type Message } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createContextKey,
  type HandlerContext,
  type Interceptor,
  type MethodImplSpec,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { createAsyncIterable, transformInvokeImplementation } from "@connectrpc/connect/protocol";

/** The request data that an invocation needs. */
export interface InvocationInit {
  readonly requestMethod: string;
  /** The request target, as the caller sent it. */
  readonly url: string;
  readonly requestHeader: Headers;
  readonly values: ContextValues;
  /** Aborts when the caller disconnects before the answer is sent, or when the time limit of the call expires. */
  readonly signal: AbortSignal;
  /**
   * Returns the milliseconds until the time limit of the call expires, or undefined for no limit. Defaults to no limit.
   */
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

/** The response messages of a stream. The headers are complete after the first message or the end of the stream. */
export interface InvokedStream extends ResponseMetadata {
  readonly messages: AsyncIterable<Message>;
}

type UnaryStep = (request: UnaryRequest) => Promise<UnaryResponse>;
type UnaryImplementation = Extract<MethodImplSpec, { readonly kind: "unary" }>;

const openContext = createContextKey<HandlerContext | undefined>(undefined, { description: "context of the call" });

/**
 * Returns a function that calls a unary method through interceptors. The first interceptor is outermost. The call
 * starts with an empty request message, and one interceptor must replace it with the real message. Throws if the method
 * is not unary.
 *
 * Differences from Connect:
 * - Each interceptor is applied once, when the method is compiled, and not for each call. So an interceptor must keep
 *   the state of a call inside the function that it returns.
 * - An interceptor must not replace the context values.
 * - `createHandlerContext` is not used, because it builds abort controllers and header lists that are not needed here.
 *
 * Only this file uses `@connectrpc/connect/protocol`, because Connect may change its functions in any release.
 */
export function createUnaryInvoke(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  protocolName: string,
): (init: InvocationInit) => Promise<Invoked> {
  if (spec.kind !== "unary") throw new Error(`${spec.method.name} is not unary`);
  const { method } = spec;
  const empty = Object.freeze(create(method.input));
  let call: UnaryStep = (request) => implement(spec, request);
  for (const interceptor of interceptors.toReversed())
    call = interceptor(call as Parameters<Interceptor>[0]) as UnaryStep;
  return async (init) => {
    const { header, trailer } = init.metadata ?? { header: new Headers(), trailer: new Headers() };
    const { requestMethod, url, requestHeader, values, signal } = init;
    values.set(openContext, contextOf(spec, init, protocolName, header, trailer));
    const response = await call({
      stream: false,
      service: method.parent,
      method,
      requestMethod,
      url,
      signal,
      header: requestHeader,
      contextValues: values,
      message: empty,
    });
    replaceHeaders(response.header, header);
    replaceHeaders(response.trailer, trailer);
    return { message: response.message, header, trailer };
  };
}

/** Runs the implementation with the request that it receives from the interceptors. */
async function implement(spec: UnaryImplementation, request: UnaryRequest): Promise<UnaryResponse> {
  const { method, contextValues, header: requestHeader, signal } = request;
  const context = contextValues.get(openContext);
  if (context === undefined) throw new Error("an interceptor replaced the context values of the call");
  const init = await spec.impl(request.message, { ...context, requestHeader, signal, values: contextValues });
  const message = create(method.output, init);
  const { responseHeader: header, responseTrailer: trailer } = context;
  return { stream: false, service: method.parent, method, header, trailer, message };
}

/** Replaces the contents of `to` with the headers in `from`. Does nothing if both are the same object. */
function replaceHeaders(from: Headers, to: Headers): void {
  if (from === to) return;
  const names = [...to.keys()];
  for (const name of names) to.delete(name);
  for (const [name, value] of from) to.append(name, value);
}

/**
 * Returns a function that calls a server-streaming method through interceptors. The interceptors run once for the
 * stream. The call starts with an empty request message, which one interceptor must replace. Nothing runs before the
 * first response message is requested. Throws if the method is not server-streaming.
 */
export function createStreamInvoke(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  protocolName: string,
): (init: InvocationInit) => InvokedStream {
  if (spec.kind !== "server_streaming") throw new Error(`${spec.method.name} is not a server-streaming method`);
  const chain = [...interceptors];
  const empty = Object.freeze(create(spec.method.input));
  return (init) => {
    const { header, trailer } = init.metadata ?? { header: new Headers(), trailer: new Headers() };
    const context = contextOf(spec, init, protocolName, header, trailer);
    const messages = transformInvokeImplementation(spec, context, chain)(createAsyncIterable([empty]));
    return { messages, header, trailer };
  };
}

function contextOf(
  { method }: MethodImplSpec,
  { requestMethod, url, requestHeader, values, signal, timeoutMs = () => undefined }: InvocationInit,
  protocolName: string,
  responseHeader: Headers,
  responseTrailer: Headers,
): HandlerContext {
  return {
    method,
    service: method.parent,
    requestMethod,
    url,
    requestHeader,
    values,
    signal,
    protocolName,
    timeoutMs,
    responseHeader,
    responseTrailer,
  };
}

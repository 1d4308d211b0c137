import { createConnectRouter, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalHandler } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { abandonBody, goneSignal, isAbandoned, leavesBodyUnread } from "@cupo/connect-rest/node";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { compressions } from "./compression.js";
import type { AnsweringOptions } from "./connect-method.js";
import { specifyMessage } from "./grpc-message.js";
import { setIncoming } from "./incoming.js";
import { endUntaken, sendStream } from "./send-stream.js";
import { readTimeLimit, timeLimitHeaders } from "./time-limit.js";

const emptyEnvelope = new Uint8Array(5);

/**
 * Compiles a method for gRPC and gRPC-Web. The handler of Connect's library is created at the first call, because
 * creating the handlers of all methods would delay the start.
 *
 * Connect's handler decodes the body before the caller is authenticated. Therefore it receives an empty message without
 * compression, and the {@link messageReading} interceptor reads the real message later.
 */
export function createGrpcMethod(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  options: AnsweringOptions,
): AnswerCall {
  let opened: UniversalHandler | undefined;
  const isStream = spec.method.methodKind !== "unary";
  return async (call) => {
    const { request, response, values } = call;
    opened ??= createHandler(spec, interceptors);
    const signal = goneSignal(request, response);
    const header = prepareHeaders(call, isStream, isStream ? options.maxStreamMs : options.maxTimeLimitMs);
    const url = `http://localhost${opened.requestPath}`;
    const body = createAsyncIterable([emptyEnvelope]);
    const { httpVersion } = request;
    const sent = { httpVersion, url, method: "POST", header, body, signal, contextValues: values };
    const answered = specifyMessage(await opened(sent));
    if (signal.aborted || isAbandoned(request)) return isStream ? endUntaken(answered) : undefined;
    if (leavesBodyUnread(request, options.maxBodyBytes)) abandonBody(response);
    if (isStream) await sendStream(answered, response);
    else await universalResponseToNodeResponse(answered, response);
  };
}

function createHandler({ method, impl }: MethodImplSpec, interceptors: readonly Interceptor[]): UniversalHandler {
  const router = createConnectRouter({
    connect: false,
    interceptors: [...interceptors],
    acceptCompression: compressions,
  });
  const [handler] = router.rpc(method, impl).handlers;
  if (handler === undefined) throw new Error(`${method.name} has no gRPC handler`);
  return handler;
}

function prepareHeaders(
  { request, headers, values, protocol }: RpcCall,
  isStream: boolean,
  maxTimeLimitMs: number,
): Headers {
  const name = timeLimitHeaders[protocol];
  const limitMs = readTimeLimit(headers, protocol, maxTimeLimitMs);
  setIncoming(values, {
    node: request,
    protocol,
    isJson: false,
    isStream,
    badTimeLimit: limitMs === "bad" ? name : undefined,
  });
  headers.delete("grpc-encoding");
  headers.delete(name);
  if (typeof limitMs === "number") headers.set(name, `${limitMs}m`);
  return headers;
}

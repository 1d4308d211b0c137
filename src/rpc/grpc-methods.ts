import { createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { goneSignal } from "../rest/gone-signal.js";
import { isAbandoned } from "../rest/read-body.js";
import type { RestService } from "../rest/routes/routes.js";
import { abandonBody, leavesBodyUnread } from "../rest/send-response.js";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { compressions } from "./compression.js";
import type { AnsweringOptions } from "./connect-method.js";
import { setIncoming } from "./incoming.js";
import { endUntaken, sendStream } from "./send-stream.js";
import { readTimeLimit, timeLimitHeaders } from "./time-limit.js";

const emptyEnvelope = new Uint8Array(5);

/**
 * The ways of the methods of services that are called by gRPC and gRPC-Web, by path. They are those of the library, which
 * decode the body before any interceptor runs: so each gets an empty message for a body, and the headers that are about the
 * real one, its compression and its time limit, are taken away. An interceptor reads the real one at its turn.
 */
export function createGrpcMethods(
  services: readonly RestService[],
  interceptors: readonly Interceptor[],
  options: AnsweringOptions,
): Map<string, AnswerCall> {
  const router = createConnectRouter({
    connect: false,
    interceptors: [...interceptors],
    acceptCompression: compressions,
  });
  for (const { service, implementation } of services) router.service(service, implementation);
  return new Map(
    router.handlers.map((handle) => {
      const isStream = handle.method.methodKind !== "unary";
      const answer: AnswerCall = async (call) => {
        const { request, response, values } = call;
        const signal = goneSignal(request, response);
        const header = prepareHeaders(call, isStream, isStream ? options.maxStreamMs : options.maxTimeLimitMs);
        const url = `http://localhost${handle.requestPath}`;
        const body = createAsyncIterable([emptyEnvelope]);
        const { httpVersion } = request;
        const answered = await handle({
          httpVersion,
          url,
          method: "POST",
          header,
          body,
          signal,
          contextValues: values,
        });
        if (signal.aborted || isAbandoned(request)) return isStream ? endUntaken(answered) : undefined;
        if (leavesBodyUnread(request, options.maxBodyBytes)) abandonBody(response);
        if (isStream) await sendStream(answered, response, options.stalledMs);
        else await universalResponseToNodeResponse(answered, response);
      };
      return [handle.requestPath, answer];
    }),
  );
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

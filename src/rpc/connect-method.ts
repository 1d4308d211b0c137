import { type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  contentTypeUnaryJson,
  contentTypeUnaryProto,
  errorToJsonBytes,
  trailerMux,
} from "@connectrpc/connect/protocol-connect";
import type { RestResponse } from "@cupo/connect-rest";
import { goneSignal, isAbandoned, plainHeaders, sendResponse } from "@cupo/connect-rest/node";
import { createMessageWriter, createUnaryInvoke, type ResponseMetadata } from "@cupo/connect-rest/strict-json";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { acceptedCompression, deflate } from "./compression.js";
import { setIncoming } from "./incoming.js";
import { openTimeLimit, readTimeLimit, timeLimitHeaders } from "./time-limit.js";

/** Options for answering the calls of a method. */
export interface AnsweringOptions {
  /** Maximum bytes of a request body. */
  readonly maxBodyBytes: number;
  /**
   * The longest time limit that a caller can set for a unary call, in milliseconds. Longer limits are reduced to it.
   */
  readonly maxTimeLimitMs: number;
  /** The longest time limit that a caller can set for a stream, in milliseconds. Longer limits are reduced to it. */
  readonly maxStreamMs: number;
}

/**
 * Compiles a unary method for the Connect protocol (connectrpc.com/docs/protocol, "Unary-Request" and
 * "Unary-Get-Request"). The request message is the body of a POST or a parameter of a GET. The answer is the response
 * message, or an error as JSON with the HTTP status of its code.
 *
 * Connect's own handler is not used, because it decodes the body before the caller is authenticated.
 *
 * Trailers become headers with the prefix `trailer-`. An error answer has the metadata of the call and of the error. If
 * both have the same header, the error's header is sent.
 */
export function createConnectMethod(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  { maxBodyBytes, maxTimeLimitMs }: AnsweringOptions,
): AnswerCall {
  const invoke = createUnaryInvoke(spec, interceptors, "connect");
  const writeJson = createMessageWriter(spec.method.output);
  const encode = (message: Message, isJson: boolean) =>
    isJson ? Buffer.from(writeJson(message)) : Buffer.from(toBinary(spec.method.output, message));
  return async (call) => {
    const { request, response, headers, values, isJson, query } = call;
    const gone = goneSignal(request, response);
    const limitMs = readTimeLimit(headers, "connect", maxTimeLimitMs);
    const badTimeLimit = limitMs === "bad" ? timeLimitHeaders.connect : undefined;
    const limit = typeof limitMs === "number" ? openTimeLimit(limitMs, gone) : undefined;
    const metadata = { header: new Headers(), trailer: new Headers() };
    setIncoming(values, { node: request, protocol: "connect", isJson, isStream: false, query, badTimeLimit });
    let answer: RestResponse;
    try {
      const init = {
        requestMethod: request.method ?? "",
        url: request.url ?? "",
        requestHeader: headers,
        values,
        metadata,
      };
      const { message } = await invoke({ ...init, signal: gone, ...limit });
      answer = await successOf(call, metadata, encode(message, isJson));
    } catch (error) {
      if (gone.aborted || isAbandoned(request)) return;
      answer = errorOf(error, metadata);
    } finally {
      limit?.close();
    }
    await sendResponse(request, response, answer, maxBodyBytes);
  };
}

async function successOf(
  { headers, isJson }: RpcCall,
  { header, trailer }: ResponseMetadata,
  body: Buffer,
): Promise<RestResponse> {
  const deflated = await deflate(body, acceptedCompression(headers.get("accept-encoding")));
  return {
    status: 200,
    headers: {
      ...plainHeaders(trailerMux(header, trailer)),
      "content-type": isJson ? contentTypeUnaryJson : contentTypeUnaryProto,
      ...(deflated === undefined ? {} : { "content-encoding": deflated.encoding }),
    },
    body: deflated?.bytes ?? body,
  };
}

/** Returns a thrown ConnectError unchanged. Every other error becomes a ConnectError with Code.Internal. */
export function asConnectError(thrown: unknown): ConnectError {
  return thrown instanceof ConnectError ? thrown : new ConnectError("internal error", Code.Internal);
}

function errorOf(thrown: unknown, { header, trailer }: ResponseMetadata): RestResponse {
  const error = asConnectError(thrown);
  const metadata = { ...plainHeaders(trailerMux(header, trailer)), ...plainHeaders(error.metadata) };
  return {
    status: codeToHttpStatus(error.code),
    headers: { ...metadata, "content-type": contentTypeUnaryJson },
    body: errorToJsonBytes(error, undefined),
  };
}

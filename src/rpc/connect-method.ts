import { type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  contentTypeUnaryJson,
  contentTypeUnaryProto,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { goneSignal } from "../rest/gone-signal.js";
import { createUnaryInvoke } from "../rest/invoke.js";
import { createMessageWriter } from "../rest/json/write-message.js";
import { isAbandoned } from "../rest/read-body.js";
import { type RestResponse, sendResponse } from "../rest/send-response.js";
import { plainHeaders } from "../rest/web-headers.js";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { deflate } from "./compression.js";
import { setIncoming } from "./incoming.js";
import { readTimeLimit, timeLimitHeaders } from "./time-limit.js";

/** What answering needs beside the method. */
export interface AnsweringOptions {
  readonly maxBodyBytes: number;
  /** The longest time limit of a caller, in milliseconds; longer ones are cut. */
  readonly maxTimeLimitMs: number;
  /** The same of a stream. */
  readonly maxStreamMs: number;
  /** How long a stream waits for a caller who takes no message, in milliseconds; then it is cut off. */
  readonly stalledMs: number;
}

/**
 * Compiles the way of a unary method that is called by the Connect protocol: a POST whose body is the message, answered by
 * the message, or by an error as JSON with the status of its code (connectrpc.com/docs/protocol, "Unary-Request"). It is done
 * here, and not by Connect's own handler, because that one reads and decodes the body before any interceptor runs.
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
    const { request, response, headers, values, isJson } = call;
    const gone = goneSignal(request, response);
    const limitMs = readTimeLimit(headers, "connect", maxTimeLimitMs);
    const badTimeLimit = limitMs === "bad" ? timeLimitHeaders.connect : undefined;
    const signal = typeof limitMs === "number" ? AbortSignal.any([gone, AbortSignal.timeout(limitMs)]) : gone;
    setIncoming(values, { node: request, protocol: "connect", isJson, isStream: false, badTimeLimit });
    let answer: RestResponse;
    try {
      const init = { requestMethod: "POST", url: request.url ?? "", requestHeader: headers, values, signal };
      const { message, header } = await invoke(init);
      answer = await successOf(call, header, encode(message, isJson));
    } catch (error) {
      if (gone.aborted || isAbandoned(request)) return;
      answer = errorOf(error);
    }
    sendResponse(request, response, answer, maxBodyBytes);
  };
}

async function successOf({ headers, isJson }: RpcCall, header: Headers, body: Buffer): Promise<RestResponse> {
  const deflated = await deflate(body, headers.get("accept-encoding"));
  return {
    status: 200,
    headers: {
      ...plainHeaders(header),
      "content-type": isJson ? contentTypeUnaryJson : contentTypeUnaryProto,
      ...(deflated === undefined ? {} : { "content-encoding": deflated.encoding }),
    },
    body: deflated?.body ?? body,
  };
}

/** The error of Connect that a thrown one is, or that stands for one which nobody translated. */
export function asConnectError(thrown: unknown): ConnectError {
  return thrown instanceof ConnectError ? thrown : new ConnectError("internal error", Code.Internal);
}

function errorOf(thrown: unknown): RestResponse {
  const error = asConnectError(thrown);
  return {
    status: codeToHttpStatus(error.code),
    headers: { ...plainHeaders(error.metadata), "content-type": contentTypeUnaryJson },
    body: errorToJsonBytes(error, undefined),
  };
}

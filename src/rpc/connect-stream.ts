import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { type ConnectError, createHandlerContext, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import {
  compressedFlag,
  createAsyncIterable,
  encodeEnvelope,
  transformInvokeImplementation,
  untilFirst,
} from "@connectrpc/connect/protocol";
import {
  contentTypeStreamJson,
  contentTypeStreamProto,
  createEndStreamSerialization,
  endStreamFlag,
} from "@connectrpc/connect/protocol-connect";
import { abandonBody, goneSignal, isAbandoned, leavesBodyUnread } from "@cupo/connect-rest/node";
import { createMessageWriter } from "@cupo/connect-rest/strict-json";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { acceptedCompression, deflate, type NamedCompression } from "./compression.js";
import { type AnsweringOptions, asConnectError } from "./connect-method.js";
import { setIncoming } from "./incoming.js";
import { endUntaken, sendStream } from "./send-stream.js";
import { readTimeLimit, timeLimitHeaders } from "./time-limit.js";

/** Encodes a response message. */
type Encode = (message: Message) => Uint8Array;

const endOfStream = createEndStreamSerialization(undefined);

/**
 * Compiles a server-streaming method for the Connect protocol (connectrpc.com/docs/protocol, "Streaming-RPCs"). The
 * body of the POST is one enveloped message. The answer is 200 with one envelope for each message. A last envelope,
 * which is not compressed, contains the outcome of the stream.
 *
 * Connect's own handler is not used: the message must be read after the header interceptors, and JSON must be written
 * by this service's writer.
 */
export function createConnectStream(
  spec: MethodImplSpec,
  interceptors: readonly Interceptor[],
  options: AnsweringOptions,
): AnswerCall {
  const { output } = spec.method;
  const writeJson = createMessageWriter(output);
  const encodeJson: Encode = (message) => Buffer.from(writeJson(message));
  const encodeBinary: Encode = (message) => toBinary(output, message);
  return async (call) => {
    const { request, response } = call;
    const context = openContext(spec, call, options);
    const empty = createAsyncIterable([create(spec.method.input)]);
    const messages = transformInvokeImplementation(spec, context, [...interceptors])(empty);
    const compression = acceptedCompression(call.headers.get("connect-accept-encoding"));
    if (compression !== undefined) context.responseHeader.set("connect-content-encoding", compression.name);
    const encode = call.isJson ? encodeJson : encodeBinary;
    const write = (message: Message) => envelope(encode(message), compression);
    const chunks = envelopes(messages, write, (error) => {
      context.abort(error);
      return endOfStream.serialize({ metadata: context.responseTrailer, ...(error === undefined ? {} : { error }) });
    });
    const answer = { status: 200, header: context.responseHeader, body: await untilFirst(chunks) };
    if (context.requestGone.aborted || isAbandoned(request)) return endUntaken(answer);
    if (leavesBodyUnread(request, options.maxBodyBytes)) abandonBody(response);
    await sendStream(answer, response);
  };
}

function openContext(
  spec: MethodImplSpec,
  { request, response, headers, values, isJson }: RpcCall,
  options: AnsweringOptions,
) {
  const requestGone = goneSignal(request, response);
  const limitMs = readTimeLimit(headers, "connect", options.maxStreamMs);
  const badTimeLimit = limitMs === "bad" ? timeLimitHeaders.connect : undefined;
  setIncoming(values, { node: request, protocol: "connect", isJson, isStream: true, badTimeLimit });
  const context = createHandlerContext({
    method: spec.method,
    service: spec.method.parent,
    requestMethod: "POST",
    url: request.url ?? "",
    protocolName: "connect",
    ...(typeof limitMs === "number" ? { timeoutMs: limitMs } : {}),
    requestSignal: requestGone,
    requestHeader: headers,
    responseHeader: { "content-type": isJson ? contentTypeStreamJson : contentTypeStreamProto },
    contextValues: values,
  });
  return { ...context, requestGone };
}

async function* envelopes(
  messages: AsyncIterable<Message>,
  write: (message: Message) => Promise<Uint8Array>,
  end: (error: ConnectError | undefined) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  let error: ConnectError | undefined;
  try {
    for await (const message of messages) yield await write(message);
  } catch (thrown) {
    error = asConnectError(thrown);
  }
  yield encodeEnvelope(endStreamFlag, end(error));
}

async function envelope(message: Uint8Array, compression: NamedCompression | undefined): Promise<Uint8Array> {
  const deflated = await deflate(message, compression);
  return deflated === undefined ? encodeEnvelope(0, message) : encodeEnvelope(compressedFlag, deflated.bytes);
}

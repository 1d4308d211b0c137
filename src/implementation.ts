import type { DescMethod, DescService, MessageInitShape, MessageValidType } from "@bufbuild/protobuf";
import type { ReadyCall, StreamCall } from "./call.js";

/**
 * The implementation of a proto service: a function for each method. Each function receives a valid request with all
 * required fields, and a call that authentication and all other stages have accepted. A method without a function
 * answers `unimplemented` over RPC and 404 over REST.
 *
 * A streaming method returns its messages as an async iterable.
 * - No message is requested while the response's send buffer is full.
 * - The stream ends when `call.signal` aborts. The implementation should then also end, to release its resources.
 * - Response headers are sent with the first message. So a stream that may be silent for long should send its first
 *   message immediately.
 */
export type Implementation<Service extends DescService> = {
  readonly [Method in keyof Service["method"]]?: Operation<Service["method"][Method]>;
};

type Operation<Method extends DescMethod> = Method["methodKind"] extends "server_streaming"
  ? (request: MessageValidType<Method["input"]>, call: StreamCall) => AsyncIterable<MessageInitShape<Method["output"]>>
  : (request: MessageValidType<Method["input"]>, call: ReadyCall) => Promise<MessageInitShape<Method["output"]>>;

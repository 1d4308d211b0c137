import type { DescMethod, DescService, MessageInitShape, MessageValidType } from "@bufbuild/protobuf";
import type { ReadyCall, StreamCall } from "./call.js";

/**
 * What does the work of a proto service: for each of its methods a function that gets a request which keeps the rules of
 * the proto, so that what they require is there, and a call that passed every stage. A method that is left out answers
 * `unimplemented`, and 404 over REST.
 *
 * A method that answers by a stream gives its messages one after the other, and is asked for the next when the caller took
 * the one before. It need not end by itself when its signal aborts, but should, to give back what it holds. The first message
 * takes the headers of the answer with it, so a stream on which nothing may happen for long begins with one that says so.
 */
export type Implementation<Service extends DescService> = {
  readonly [Method in keyof Service["method"]]?: Operation<Service["method"][Method]>;
};

type Operation<Method extends DescMethod> = Method["methodKind"] extends "server_streaming"
  ? (request: MessageValidType<Method["input"]>, call: StreamCall) => AsyncIterable<MessageInitShape<Method["output"]>>
  : (request: MessageValidType<Method["input"]>, call: ReadyCall) => Promise<MessageInitShape<Method["output"]>>;

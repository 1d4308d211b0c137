import { type DescMethod, type DescService, fromBinary, type Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { callOf, type ReadyCall, readyCall, type StreamCall, streamCall } from "../call.js";
import { operationName, takesIdempotencyKey } from "../operation.js";

/** A proto service and its {@link Implementation}. */
export interface Implemented {
  readonly service: DescService;
  readonly implementation: object;
}

type Operation<C> = (request: Message, call: C) => unknown;
type Method = (request: Message, context: HandlerContext) => unknown;

/**
 * Adapts a proto service to Connect. Each method of the result reads the call from Connect's context and passes it to
 * the implementation. If the call repeats an earlier one with the same idempotency key, the method returns the stored
 * response and does not run the implementation.
 *
 * Throws if a streaming method takes an idempotency key, because a stream cannot be repeated.
 */
export function answeringCalls<T extends Implemented>(entry: T): T {
  const implementation: Record<string, Method> = {};
  for (const method of entry.service.methods) {
    const operation: unknown = Reflect.get(entry.implementation, method.localName);
    if (typeof operation !== "function") continue;
    const bound = operation.bind(entry.implementation);
    implementation[method.localName] = method.methodKind === "unary" ? answer(method, bound) : stream(method, bound);
  }
  return { ...entry, implementation };
}

function answer(method: DescMethod, operation: Operation<ReadyCall>): Method {
  return (request, { values }) => {
    const call = callOf(values);
    if (call.storedResponse !== undefined) return fromBinary(method.output, call.storedResponse);
    return operation(request, readyCall(call));
  };
}

function stream(method: DescMethod, operation: Operation<StreamCall>): Method {
  if (takesIdempotencyKey(method)) throw new Error(`${operationName(method)} streams, but takes an idempotency key`);
  return (request, { values, signal }) => operation(request, streamCall(callOf(values), signal));
}

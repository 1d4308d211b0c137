import { type DescMethod, type DescService, fromBinary, type Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { callOf, type ReadyCall, readyCall } from "../call.js";

/** A proto service and its {@link Implementation}. */
export interface Implemented {
  readonly service: DescService;
  readonly implementation: object;
}

type Operation = (request: Message, call: ReadyCall) => unknown;
type Method = (request: Message, context: HandlerContext) => unknown;

/**
 * The service as Connect takes it: each method gets the call of its context. One that replays an earlier call is answered
 * with the stored response, without anything being done. That is the last step of the idempotency stage, which no
 * interceptor could be: only an implementation gets the response headers that the protocol has begun.
 */
export function answeringCalls<T extends Implemented>(entry: T): T {
  const implementation: Record<string, Method> = {};
  for (const method of entry.service.methods) {
    const operation: unknown = Reflect.get(entry.implementation, method.localName);
    if (typeof operation !== "function") continue;
    implementation[method.localName] = answer(method, operation.bind(entry.implementation) as Operation);
  }
  return { ...entry, implementation };
}

function answer(method: DescMethod, operation: Operation): Method {
  return (request, { values }) => {
    const call = callOf(values);
    if (call.storedResponse !== undefined) return fromBinary(method.output, call.storedResponse);
    return operation(request, readyCall(call));
  };
}

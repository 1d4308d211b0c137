import { type DescMethod, type DescService, fromBinary, type Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { callOf } from "../call.js";

/** A proto service and the methods of it that are implemented. */
export interface Implemented {
  readonly service: DescService;
  readonly implementation: object;
}

type Method = (message: Message, context: HandlerContext) => unknown;

/**
 * The same implementation, but that a call which replays an earlier one is answered with the stored response, without
 * anything being done. It is the last step of the idempotency stage, which no interceptor could be: only an implementation
 * gets the response headers that the protocol has begun.
 */
export function answeringReplays<T extends Implemented>(entry: T): T {
  const implementation: Record<string, Method> = {};
  for (const method of entry.service.methods) {
    const implemented: unknown = Reflect.get(entry.implementation, method.localName);
    if (typeof implemented !== "function") continue;
    implementation[method.localName] = replayOr(method, implemented.bind(entry.implementation) as Method);
  }
  return { ...entry, implementation };
}

function replayOr(method: DescMethod, implemented: Method): Method {
  return (message, context) => {
    const { storedResponse } = callOf(context.values);
    return storedResponse === undefined ? implemented(message, context) : fromBinary(method.output, storedResponse);
  };
}

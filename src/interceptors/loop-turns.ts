import { setImmediate } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";

/**
 * Lets requests that take the thread for milliseconds go on one in each turn of the event loop, in the order in which they came:
 * a burst of long texts to be screened then delays everybody else's steps by one of them, not by all. `isLong` says of the request
 * of a method whether it may be such a one.
 */
export function loopTurns(isLong: (schema: DescMessage) => boolean): Interceptor {
  let last = Promise.resolve();
  return (next) => async (request) => {
    if (!isLong(request.method.input)) return next(request);
    last = last.then(() => setImmediate());
    await last;
    return next(request);
  };
}

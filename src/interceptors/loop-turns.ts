import { setImmediate } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";

/**
 * Lets only one expensive request continue in each turn of the event loop, in order of arrival. A burst of requests
 * with long texts then delays other requests by one screening, not by all. `isLong` returns whether requests of this
 * schema can block the thread for milliseconds.
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

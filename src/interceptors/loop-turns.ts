import { setImmediate } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Stage } from "./stage.js";

/**
 * Lets only one expensive request continue in each turn of the event loop, in order of arrival. A burst of requests
 * with long texts then delays other requests by one screening, not by all. `isLong` returns whether requests of this
 * schema can block the thread for milliseconds.
 */
export function loopTurns(isLong: (schema: DescMessage) => boolean): Stage {
  let last = Promise.resolve();
  return ({ input }) => {
    if (!isLong(input)) return undefined;
    return (next) => async (request) => {
      last = last.then(() => setImmediate());
      await last;
      return next(request);
    };
  };
}

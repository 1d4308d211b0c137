import { setImmediate } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Stage } from "./stage.js";

/**
 * Delays requests that can have long texts: in each turn of the event loop, only one of them continues, in order of
 * arrival. A later stage needs milliseconds to check a long text. So when many such requests arrive together, any other
 * request waits for one check, not for all. `isLong` returns whether requests of this schema can have long texts.
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

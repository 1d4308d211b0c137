import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { type Call, callOf } from "../call.js";
import type { CupoError } from "../errors.js";
import { asCupoError } from "../problem.js";
import { connectErrorOf } from "./connect-error.js";

/** Told of every error of a call before it is sent, so that it can be logged and counted. */
export type ErrorObserver = (error: CupoError, call: Call) => void;

/**
 * Outermost on RPC: turns an error into its Connect code with the Problem as a detail, the same one that REST sends as
 * its body. Errors of Connect itself, such as `unimplemented`, pass as they are.
 */
export function problems(problemsUrl: string, observe: ErrorObserver): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (thrown) {
      if (thrown instanceof ConnectError) throw thrown;
      const call = callOf(request.contextValues);
      const error = asCupoError(thrown);
      observe(error, call);
      throw connectErrorOf(error, call, problemsUrl);
    }
  };
}

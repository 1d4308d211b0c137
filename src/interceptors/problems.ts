import { ConnectError, type Interceptor, type StreamResponse } from "@connectrpc/connect";
import { type Call, callOf } from "../call.js";
import type { CupoError } from "../errors.js";
import { asCupoError } from "../problem.js";
import { connectErrorOf } from "./connect-error.js";

/** Told of every error of a call before it is sent, so that it can be logged and counted. */
export type ErrorObserver = (error: CupoError, call: Call) => void;

/**
 * Outermost on RPC: turns an error into its Connect code with the Problem as a detail, the same one that REST sends as
 * its body, whether before a stream begins or later. Errors of Connect itself, such as `unimplemented`, pass as they are.
 */
export function problems(problemsUrl: string, observe: ErrorObserver): Interceptor {
  const explainTo = (call: Call, thrown: unknown) => {
    if (thrown instanceof ConnectError) return thrown;
    const error = asCupoError(thrown);
    observe(error, call);
    return connectErrorOf(error, call, problemsUrl);
  };
  return (next) => async (request) => {
    const explain = (thrown: unknown) => {
      const call = callOf(request.contextValues);
      const sent = explainTo(call, thrown);
      call.rpcCode = sent.code;
      return sent;
    };
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: explained(response.message, explain) } : response;
    } catch (thrown) {
      throw explain(thrown);
    }
  };
}

async function* explained(
  messages: StreamResponse["message"],
  explain: (thrown: unknown) => ConnectError,
): StreamResponse["message"] {
  try {
    yield* messages;
  } catch (thrown) {
    throw explain(thrown);
  }
}

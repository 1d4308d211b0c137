import { ConnectError, type Interceptor, type StreamResponse } from "@connectrpc/connect";
import { type Call, callOf } from "../call.js";
import type { CupoError } from "../errors.js";
import { asCupoError } from "../problems/problem.js";
import { connectErrorOf } from "./connect-error.js";

/** The media types of gRPC, without those of gRPC-Web, which sends trailers in the body. */
const isGrpc = /^application\/grpc(?:[+;]|$)/i;

/** Called with each CupoError of a call before it is sent, for logs and metrics. */
export type ErrorObserver = (error: CupoError, call: Call) => void;

/**
 * Creates the outermost interceptor of RPC calls. It converts an error, also during a stream, to a Connect error. One
 * detail of the Connect error is the Problem, which REST sends as its body. Errors of Connect itself, such as
 * `unimplemented`, stay unchanged.
 */
export function problems(problemsUrl: string, observe: ErrorObserver): () => Interceptor {
  const explainTo = (call: Call, thrown: unknown, inTrailers: boolean) => {
    if (thrown instanceof ConnectError) return thrown;
    const error = asCupoError(thrown);
    observe(error, call);
    return connectErrorOf(error, call, problemsUrl, inTrailers);
  };
  return () => (next) => async (request) => {
    const explain = (thrown: unknown) => {
      const call = callOf(request.contextValues);
      const sent = explainTo(call, thrown, isGrpc.test(request.header.get("Content-Type") ?? ""));
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

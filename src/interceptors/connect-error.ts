import { ConnectError } from "@connectrpc/connect";
import type { Call } from "../call.js";
import { type CupoError, connectCodeOf, errorTable } from "../errors.js";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { problemOf } from "../problem.js";
import { errorDetailsOf } from "./error-details.js";

/**
 * The error that Connect, gRPC and gRPC-Web send: code and message of the table, headers of the call, the Problem and what
 * {@link errorDetailsOf} adds as details.
 */
export function connectErrorOf(
  error: CupoError,
  call: Pick<Call, "correlationId" | "responseHeaders">,
  problemsUrl: string,
): ConnectError {
  const { title } = errorTable[error.code];
  const problem = problemOf(error, call.correlationId, problemsUrl);
  const headers = { ...call.responseHeaders, ...error.headers };
  return new ConnectError(error.detail ?? title, connectCodeOf(error), headers, [
    { desc: ProblemSchema, value: problem },
    ...errorDetailsOf(error),
  ]);
}

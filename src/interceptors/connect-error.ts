import { type Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "../call.js";
import { type CupoError, errorTable, type FieldErrorCode } from "../errors.js";
import { ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { MAX_ERRORS, MAX_ERRORS_IN_TRAILERS } from "../problems/listed-errors.js";
import { problemOf } from "../problems/problem.js";
import { errorDetailsOf } from "./error-details.js";

/**
 * Returns the error that Connect, gRPC and gRPC-Web send. It has the code of {@link connectCodeOf} and the headers of
 * the call and the error. The details of the error are the Problem and the details of {@link errorDetailsOf}. With
 * `inTrailers`, the Problem lists fewer errors.
 */
export function connectErrorOf(
  error: CupoError,
  call: Pick<Call, "correlationId" | "responseHeaders">,
  problemsUrl: string,
  inTrailers = false,
): ConnectError {
  const { title } = errorTable[error.code];
  const problem = problemOf(error, call.correlationId, problemsUrl, inTrailers ? MAX_ERRORS_IN_TRAILERS : MAX_ERRORS);
  const headers = { ...call.responseHeaders, ...error.headers };
  return new ConnectError(problem.detail ?? title, connectCodeOf(error), headers, [
    { desc: ProblemSchema, value: problem },
    ...errorDetailsOf(error),
  ]);
}

/**
 * Returns the Connect code of an error: its own code, else the code for its first field error, else the code in the
 * error table.
 */
export function connectCodeOf(error: CupoError): Code {
  const entry = errorTable[error.code];
  const codesByReason: Readonly<Partial<Record<FieldErrorCode, Code>>> = entry.codesByReason;
  const [reason] = error.errors;
  return error.connectCode ?? (reason && codesByReason[reason.code]) ?? entry.connectCode;
}

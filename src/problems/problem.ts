import { create, toJsonString } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { RestError, type RestErrorReason, type Violation } from "@cupo/connect-rest";
import { CupoError, errorTable, type FieldError, invalidRequest, notFound, validationFailed } from "../errors.js";
import { type Problem, ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { detailOf } from "./detail.js";
import { fieldCodes } from "./field-codes.js";
import { listedErrors, MAX_ERRORS } from "./listed-errors.js";

/** Media type of Problem documents (RFC 9457, section 6.1). */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/**
 * Converts a thrown error to the error that callers see. A CupoError stays unchanged, and a RestError is translated.
 * Any other error becomes INTERNAL_ERROR with the original as its cause, for the log.
 */
export function asCupoError(error: unknown): CupoError {
  if (error instanceof RestError) return refusalOf(error);
  return error instanceof CupoError ? error : new CupoError("INTERNAL_ERROR", { cause: error });
}

/**
 * Creates the Problem document of an error (specification section 2.8, RFC 9457): the body of REST errors and a detail
 * of RPC errors. It lists at most `maxErrors` errors ({@link listedErrors}). `problemsUrl` has no trailing slash.
 */
export function problemOf(
  error: CupoError,
  correlationId: string,
  problemsUrl: string,
  maxErrors = MAX_ERRORS,
): Problem {
  const { status, slug, title } = errorTable[error.code];
  const detail = detailOf(error);
  return create(ProblemSchema, {
    type: `${problemsUrl}/${slug}`,
    title,
    status,
    code: error.code,
    correlationId,
    ...(detail === undefined ? {} : { detail }),
    errors: listedErrors(error.errors, maxErrors).map(({ code, field, message }) => ({ code, field, message })),
  });
}

/** Formats the Problem as JSON text. Members without a value are omitted, including an empty `errors`. */
export function problemJson(problem: Problem): string {
  return toJsonString(ProblemSchema, problem);
}

/**
 * Returns the CupoError of a RestError. Published operations do not use 413 and 415, so an unsupported media type or a
 * message that is too long becomes a 400. Over RPC, a message that is too long has the code RESOURCE_EXHAUSTED.
 */
function refusalOf({ reason, detail, violations }: RestError): CupoError {
  const errors = fieldErrorsOf(violations);
  const refusals: Readonly<Record<RestErrorReason, () => CupoError>> = {
    NOT_FOUND: () => notFound("No resource exists at this path."),
    METHOD_NOT_ALLOWED: () => new CupoError("METHOD_NOT_ALLOWED"),
    MALFORMED: () => invalidRequest(errors.length === 0 ? detail : errors),
    UNSUPPORTED_MEDIA_TYPE: () => invalidRequest(errors),
    TOO_LONG: () => new CupoError("INVALID_REQUEST", { detail, connectCode: Code.ResourceExhausted }),
    INVALID: () => validationFailed(errors),
  };
  return refusals[reason]();
}

/**
 * Returns violations as field errors. The filter removes nothing and only narrows the type: Cupo's validator uses only
 * codes in {@link fieldCodes}.
 */
export function fieldErrorsOf(violations: readonly Violation[]): readonly FieldError[] {
  return violations.filter(isFieldError);
}

function isFieldError(violation: Violation): violation is FieldError {
  return Object.hasOwn(fieldCodes, violation.code);
}

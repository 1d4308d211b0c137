import { create, toJsonString } from "@bufbuild/protobuf";
import { CupoError, errorTable, type FieldError, invalidRequest, notFound, validationFailed } from "./errors.js";
import { type Problem, ProblemSchema } from "./gen/cupo/access/v1/problem_pb.js";
import { RestError, type RestErrorReason } from "./rest/rest-error.js";

/** Media type of Problem documents (RFC 9457, section 6.1). */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/**
 * The error that a caller may be told of: itself where it was thrown on purpose, what a transport refused, INTERNAL_ERROR for
 * anything else, with the original as its cause, for the log.
 */
export function asCupoError(error: unknown): CupoError {
  if (error instanceof RestError) return refusalOf(error);
  return error instanceof CupoError ? error : new CupoError("INTERNAL_ERROR", { cause: error });
}

/**
 * The Problem document of an error (specification section 2.8, RFC 9457): body of REST errors, detail of RPC errors.
 * `problemsUrl` has no slash at its end.
 */
export function problemOf(error: CupoError, correlationId: string, problemsUrl: string): Problem {
  const { status, slug, title } = errorTable[error.code];
  return create(ProblemSchema, {
    type: `${problemsUrl}/${slug}`,
    title,
    status,
    code: error.code,
    correlationId,
    ...(error.detail === undefined ? {} : { detail: error.detail }),
    errors: error.errors.map(({ code, field, message }) => ({ code, field, message })),
  });
}

/** The Problem as JSON text. Members that have no value are left out, an empty `errors` too. */
export function problemJson(problem: Problem): string {
  return toJsonString(ProblemSchema, problem);
}

function refusalOf({ reason, detail, violations }: RestError): CupoError {
  const errors: readonly FieldError[] = violations;
  const refusals: Readonly<Record<RestErrorReason, () => CupoError>> = {
    NOT_FOUND: () => notFound("There is nothing at this path."),
    METHOD_NOT_ALLOWED: () => new CupoError("METHOD_NOT_ALLOWED"),
    MALFORMED: () => invalidRequest(detail, errors),
    INVALID: () => validationFailed(errors),
  };
  return refusals[reason]();
}

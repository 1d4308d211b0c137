import type { Registry } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { RestErrorReason } from "../rest-error.js";
import type { Violation } from "../violations/violation.js";
import { type ErrorDetail, errorDetails } from "./error-details.js";
import { type ClassifiedError, classifyError, codeName, errorHeaders, type RenderError } from "./render-error.js";

/** A Problem document (RFC 9457 section 3), with extension members. */
export interface Problem {
  readonly type: string;
  /** The reason phrase of the HTTP status. */
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The name of the google.rpc.Code of the error, such as "INVALID_ARGUMENT". */
  readonly code: string;
  /** The reason of a RestError. Absent for every other error. */
  readonly reason?: RestErrorReason;
  /** The violations of a RestError. Absent if there are none. */
  readonly errors?: readonly Violation[];
  /** The details of a ConnectError, see {@link errorDetails}. Absent if there are none. */
  readonly details?: readonly ErrorDetail[];
}

export interface ProblemJsonOptions {
  /**
   * Returns the `type` of a problem: a URI. Defaults to "about:blank", which means that the HTTP status is a sufficient
   * description (RFC 9457 section 4.2.1).
   */
  readonly typeOf?: (problem: Omit<Problem, "type">) => string;
  /** The types of error details from other servers, see {@link errorDetails}. Defaults to none. */
  readonly registry?: Registry | undefined;
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  499: "Client Closed Request",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/**
 * Renders errors as Problem documents, `application/problem+json` (RFC 9457). A document lists all violations of a
 * {@link RestError}.
 */
export function problemJson({ typeOf = () => "about:blank", registry }: ProblemJsonOptions = {}): RenderError {
  return (thrown) => {
    const classified = classifyError(thrown);
    const { status, detail, error } = classified;
    const problem = {
      title: titles[status] ?? "Error",
      status,
      detail,
      code: codeName(classified.code),
      ...extensionsOf(error, registry),
    };
    const headers = { ...errorHeaders(classified), "content-type": "application/problem+json" };
    return { status, headers, body: JSON.stringify({ type: typeOf(problem), ...problem } satisfies Problem) };
  };
}

function extensionsOf(
  error: ClassifiedError["error"],
  registry: Registry | undefined,
): Pick<Problem, "reason" | "errors" | "details"> {
  if (error === undefined) return {};
  if (!(error instanceof ConnectError)) {
    const { reason, violations } = error;
    return violations.length === 0 ? { reason } : { reason, errors: violations };
  }
  const details = errorDetails(error, registry);
  return details.length === 0 ? {} : { details };
}

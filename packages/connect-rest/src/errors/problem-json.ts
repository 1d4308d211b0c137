import { RestError } from "../rest-error.js";
import type { Violation } from "../violations/violation.js";
import { classifyError, codeName, errorHeaders, type RenderError } from "./render-error.js";

/** A Problem document (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The code of google.rpc.Code that gRPC would have. */
  readonly code: string;
  /** Every violation in the request. Absent if there is none. */
  readonly errors?: readonly Violation[];
}

/** Options of Problem documents. */
export interface ProblemJsonOptions {
  /** Returns the `type` of a problem: a URI. Defaults to "about:blank", which RFC 9457 gives to plain statuses. */
  readonly typeOf?: (problem: Pick<Problem, "status" | "code">) => string;
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

/** Renders errors as Problem documents, `application/problem+json` (RFC 9457), with every violation of the request. */
export function problemJson({ typeOf = () => "about:blank" }: ProblemJsonOptions = {}): RenderError {
  return (thrown) => {
    const classified = classifyError(thrown);
    const { status, detail, error } = classified;
    const code = codeName(classified.code);
    const violations = error instanceof RestError ? error.violations : [];
    const problem: Problem = {
      type: typeOf({ status, code }),
      title: titles[status] ?? "Error",
      status,
      detail,
      code,
      ...(violations.length === 0 ? {} : { errors: violations }),
    };
    const headers = { ...errorHeaders(classified), "content-type": "application/problem+json" };
    return { status, headers, body: JSON.stringify(problem) };
  };
}

import { type Call } from "../call.js";
import { busy, CupoError, errorTable } from "../errors.js";
import type { SocketError } from "../http/socket-error.js";
import type { ErrorObserver } from "../interceptors/problems.js";
import { callFor, openCall } from "../open-call.js";
import { PROBLEM_MEDIA_TYPE, problemJson, problemOf } from "../problems/problem.js";
import type { HttpRequest, HttpResponse } from "../request-log.js";
import { responseHeaders } from "./listener-constants.js";

/** Options for the error answers of a listener. The body of an error answer is a Problem (RFC 9457). */
export interface ProblemOptions {
  readonly problemsUrl: string;
  readonly observe: ErrorObserver;
}

/**
 * Returns a function that renders the answer to a refused request or to unreadable input, as a Problem. If the headers
 * of the request were read, the answer has the correlation id of the request.
 */
export function socketProblems(options: ProblemOptions): SocketError {
  const errors = {
    BAD_REQUEST: () => new CupoError("INVALID_REQUEST"),
    TIMEOUT: () => new CupoError("REQUEST_TIMEOUT"),
    HEADERS_TOO_LARGE: () => new CupoError("HEADERS_TOO_LARGE"),
    OVERLOADED: () => busy("Too many answers are waiting for clients that do not read them.", 1),
  };
  return (kind, request) => {
    const call = request === undefined ? openCall({ rawHeaders: [] }) : callFor(request);
    const { headers, ...answer } = renderError(errors[kind](), call, options);
    return { ...answer, headers: { ...responseHeaders, "X-Correlation-Id": call.correlationId, ...headers } };
  };
}

/** Answers a request with the Problem of an error. Used for pages and other resources that are not operations. */
export function sendProblem(
  request: HttpRequest,
  response: HttpResponse,
  error: CupoError,
  options: ProblemOptions,
): void {
  const { status, headers, body } = renderError(error, callFor(request), options);
  response.writeHead(status, { ...responseHeaders, ...headers, "Content-Length": Buffer.byteLength(body) });
  response.end(request.method === "HEAD" ? "" : body);
}

/** Reports an error to `observe` and returns the answer: the status, the headers and the Problem as JSON. */
export function renderError(error: CupoError, call: Call, { problemsUrl, observe }: ProblemOptions) {
  observe(error, call);
  return {
    status: errorTable[error.code].status,
    headers: { "Content-Type": PROBLEM_MEDIA_TYPE, ...call.responseHeaders, ...error.headers },
    body: problemJson(problemOf(error, call.correlationId, problemsUrl)),
  };
}

import { type Call, callOf } from "./call.js";
import { CupoError, errorTable, type FieldErrorCode } from "./errors.js";
import type { SocketError } from "./http/socket-error.js";
import { answeringCalls } from "./interceptors/answering-calls.js";
import type { Chain } from "./interceptors/chain.js";
import { openCall, valuesOf } from "./interceptors/open-call.js";
import type { ErrorObserver } from "./interceptors/problems.js";
import { maxItemsOf } from "./interceptors/validation/size-limits.js";
import type { MessageValidator } from "./interceptors/validation/validation.js";
import { messageLimits, responseHeaders } from "./listener-terms.js";
import { createDocumentPages } from "./openapi/document-pages.js";
import { operationOf } from "./operation.js";
import { asCupoError, PROBLEM_MEDIA_TYPE, problemJson, problemOf } from "./problem.js";
import { isForProblemPage, PROBLEM_PAGE_METHODS, serveProblemPage } from "./problem-pages.js";
import { createReferencePages, type TokenIssue } from "./reference-page/reference-pages.js";
import { callFor, type HttpHandler, type HttpRequest, type HttpResponse } from "./request-log.js";
import { createRestHandler } from "./rest/handler.js";
import { listViolations } from "./rest/violations/list-violations.js";
import type { ServiceEntry } from "./services/services.js";

declare module "./rest/violations/violation.js" {
  interface ViolationCodes {
    cupo: FieldErrorCode;
  }
}

/** The stages read the raw headers that the call has; nobody asks for them in another form. */
const NO_HEADERS = new Headers();

/** What the Problems of a listener need. */
export interface ProblemTerms {
  readonly problemsUrl: string;
  readonly observe: ErrorObserver;
}

/** What the public listener serves. */
export interface PublicApiOptions extends ProblemTerms {
  readonly basePath: string;
  readonly services: readonly ServiceEntry[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Gives the reference page its tokens; undefined where only a real issuer does. */
  readonly issueToken?: TokenIssue | undefined;
}

/**
 * The handler of the public listener: the REST interface, its OpenAPI document and reference page, and the pages of the
 * problem types.
 */
export function createPublicApi(options: PublicApiOptions): HttpHandler {
  const rest = createRestHandler({
    basePath: options.basePath,
    services: options.services.map(answeringCalls),
    onHeaders: options.chain.onHeaders,
    onMessage: options.chain.onMessage,
    successStatus: (method) => operationOf(method).successStatus,
    validate: options.validate,
    maxItems: maxItemsOf,
    openValues: (request) => valuesOf(callFor(request)),
    renderError: (thrown, values) => renderError(asCupoError(thrown), callOf(values), options),
    headersOf: () => NO_HEADERS,
    responseHeaders,
    ...messageLimits,
  });
  const refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) =>
    sendProblem(request, response, error, options);
  const documents = createDocumentPages({
    prefix: options.basePath,
    now: options.now,
    describe: async (nowMs) => {
      const { describeRest } = await import("./openapi/rest-document.js");
      const { requestExamples } = await import("./openapi/examples/request-examples.js");
      return describeRest({ ...options, listErrors: listViolations, examples: requestExamples(nowMs) });
    },
    refuse,
  });
  const reference = createReferencePages({
    title: "Cupo",
    documentPath: `${options.basePath}/openapi.json`,
    issueToken: options.issueToken,
    refuse,
  });
  return (request, response) => {
    if (serveProblemPage(request, response) || documents(request, response) || reference(request, response)) return;
    if (isForProblemPage(request)) sendProblem(request, response, methodNotAllowed(), options);
    else void rest(request, response);
  };
}

/** Renders the Problem for what was refused at a socket; under the request's own call where its headers had been read. */
export function socketProblems(options: ProblemTerms): SocketError {
  const codes = {
    BAD_REQUEST: "INVALID_REQUEST",
    TIMEOUT: "REQUEST_TIMEOUT",
    HEADERS_TOO_LARGE: "HEADERS_TOO_LARGE",
  } as const;
  return (kind, request) => {
    const call = request === undefined ? openCall({ rawHeaders: [] }) : callFor(request);
    const { headers, ...answer } = renderError(new CupoError(codes[kind]), call, options);
    return { ...answer, headers: { ...responseHeaders, "X-Correlation-Id": call.correlationId, ...headers } };
  };
}

/** Answers a request for what is no operation, such as a page, with the Problem of an error. */
export function sendProblem(request: HttpRequest, response: HttpResponse, error: CupoError, terms: ProblemTerms): void {
  const { status, headers, body } = renderError(error, callFor(request), terms);
  response.writeHead(status, { ...responseHeaders, ...headers, "Content-Length": Buffer.byteLength(body) });
  response.end(request.method === "HEAD" ? "" : body);
}

function methodNotAllowed(): CupoError {
  return new CupoError("METHOD_NOT_ALLOWED", { headers: { Allow: PROBLEM_PAGE_METHODS.join(", ") } });
}

function renderError(error: CupoError, call: Call, { problemsUrl, observe }: ProblemTerms) {
  observe(error, call);
  return {
    status: errorTable[error.code].status,
    headers: { "Content-Type": PROBLEM_MEDIA_TYPE, ...call.responseHeaders, ...error.headers },
    body: problemJson(problemOf(error, call.correlationId, problemsUrl)),
  };
}

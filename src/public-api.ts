import { createRestHandler, listViolations } from "@cupo/connect-rest";
import { type NodeListener, nodeListener } from "@cupo/connect-rest/node";
import { type Call, callOf } from "./call.js";
import { busy, CupoError, errorTable } from "./errors.js";
import type { SocketError } from "./http/socket-error.js";
import { answeringCalls } from "./interceptors/answering-calls.js";
import type { Chain } from "./interceptors/chain.js";
import type { ErrorObserver } from "./interceptors/problems.js";
import { interceptorsFor } from "./interceptors/stage.js";
import { isOpaqueId } from "./interceptors/validation/opaque-ids.js";
import { maxItemsOf } from "./interceptors/validation/size-limits.js";
import type { MessageValidator } from "./interceptors/validation/validation.js";
import { messageLimits, responseHeaders } from "./listener-constants.js";
import { callFor, openCall, valuesOf } from "./open-call.js";
import { documentPages } from "./openapi/document-pages.js";
import { operationOf } from "./operation.js";
import { serveResources } from "./pages/serve-resources.js";
import { asCupoError, PROBLEM_MEDIA_TYPE, problemJson, problemOf } from "./problems/problem.js";
import { problemPages } from "./problems/problem-pages.js";
import { type DemoTokens, referencePages } from "./reference-page/reference-pages.js";
import type { HttpHandler, HttpRequest, HttpResponse } from "./request-log.js";
import type { ServiceEntry } from "./services/services.js";

/** The stages read raw headers from the call, so no Headers object is built. */
const NO_HEADERS = new Headers();

/** Options for the Problems of a listener. */
export interface ProblemOptions {
  readonly problemsUrl: string;
  readonly observe: ErrorObserver;
}

/** The options of the public listener. */
export interface PublicApiOptions extends ProblemOptions {
  readonly basePath: string;
  readonly services: readonly ServiceEntry[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Issues tokens for the reference page. Undefined unless the development issuer is used. */
  readonly demoTokens?: DemoTokens | undefined;
}

/**
 * Creates the handler of the public listener. It serves the REST API, its OpenAPI document and reference page, and the
 * pages of the problem types.
 */
export function createPublicApi(options: PublicApiOptions): HttpHandler {
  const rest = createRest(options);
  const refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) =>
    sendProblem(request, response, error, options);
  const documents = documentPages({
    prefix: options.basePath,
    now: options.now,
    describe: async (nowMs) => {
      const { describeRest } = await import("./openapi/rest-document.js");
      const { requestExamples } = await import("./openapi/examples/request-examples.js");
      return describeRest({ ...options, listErrors: listViolations, examples: requestExamples(nowMs) });
    },
  });
  const reference = referencePages({
    title: "Cupo",
    documentPath: `${options.basePath}/openapi.json`,
    demoTokens: options.demoTokens,
  });
  const pages = serveResources([...problemPages(options.services), ...documents, ...reference], refuse);
  return (request, response) => {
    if (!pages(request, response)) void rest(request, response);
  };
}

function createRest(options: PublicApiOptions): NodeListener {
  const rest = createRestHandler({
    basePath: options.basePath,
    services: options.services.map(answeringCalls),
    headerInterceptors: interceptorsFor(options.chain.onHeaders),
    interceptors: interceptorsFor(options.chain.onMessage),
    successStatus: (method) => operationOf(method).successStatus,
    validate: options.validate,
    maxItems: maxItemsOf,
    takesAnyText: isOpaqueId,
    errors: (thrown, { values }) => renderError(asCupoError(thrown), callOf(values), options),
    requestHeader: () => NO_HEADERS,
    responseHeaders,
    ...messageLimits,
  });
  return nodeListener(rest, { contextValues: (request) => valuesOf(callFor(request)) });
}

/**
 * Returns a function that renders the Problem for an error of a connection. If the headers of the request were read,
 * the Problem belongs to its call.
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

/** Answers a request for a page or another resource that is not an operation with the Problem of an error. */
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

function renderError(error: CupoError, call: Call, { problemsUrl, observe }: ProblemOptions) {
  observe(error, call);
  return {
    status: errorTable[error.code].status,
    headers: { "Content-Type": PROBLEM_MEDIA_TYPE, ...call.responseHeaders, ...error.headers },
    body: problemJson(problemOf(error, call.correlationId, problemsUrl)),
  };
}

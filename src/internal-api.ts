import type { CupoError } from "./errors.js";
import { actor } from "./interceptors/actor.js";
import { answeringCalls } from "./interceptors/answering-calls.js";
import type { Chain } from "./interceptors/chain.js";
import { valuesOf } from "./interceptors/open-call.js";
import { problems } from "./interceptors/problems.js";
import type { Stopping } from "./interceptors/stream-life.js";
import { maxItemsOf } from "./interceptors/validation/size-limits.js";
import { invalidMessage, type MessageValidator } from "./interceptors/validation/validation.js";
import { createIntrospection } from "./introspection/handler.js";
import { messageLimits, responseHeaders } from "./listener-terms.js";
import { createDocumentPages } from "./openapi/document-pages.js";
import { type ProblemTerms, sendProblem } from "./public-api.js";
import { createReferencePages, type TokenIssue } from "./reference-page/reference-pages.js";
import { callFor, type HttpHandler, type HttpRequest, type HttpResponse } from "./request-log.js";
import { listViolations } from "./rest/violations/list-violations.js";
import { createRpcHandler } from "./rpc/handler.js";
import type { ServiceEntry } from "./services/services.js";

/** What the internal listener serves. */
export interface InternalApiOptions extends ProblemTerms {
  readonly services: readonly ServiceEntry[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether the service can take requests now. */
  readonly isReady: () => Promise<boolean>;
  readonly stopping: Pick<Stopping, "signal">;
  /** Whether tools are told what is served. */
  readonly reflection: boolean;
  /** What `/metrics` answers; nothing is there unless it is given. */
  readonly metricsPage?: (() => Promise<string>) | undefined;
  /** Gives the reference page its tokens; undefined where only a real issuer does. */
  readonly issueToken?: TokenIssue | undefined;
}

const MAX_TIME_LIMIT_MS = 30_000;
const MAX_STREAM_MS = 24 * 3_600_000;
const STALLED_STREAM_MS = 30_000;

/**
 * The handler of the internal listener: Connect, gRPC and gRPC-Web, beside the operations gRPC's own services of health and
 * reflection, the OpenAPI document and reference page of what is called by Connect with JSON, and pages for whoever runs the
 * process: `/livez` says that it runs, `/readyz` whether it should get requests, `/metrics` how it does (docs/telemetry.md).
 */
export function createInternalApi(options: InternalApiOptions): HttpHandler {
  const { isReady, metricsPage } = options;
  const rpc = createOperations(options);
  const pages = createPages(options);
  const introspection = createIntrospection({
    services: options.services.map(({ service }) => service),
    isReady,
    stopping: options.stopping.signal,
    reflects: options.reflection,
  });
  return (request, response) => {
    if (pages(request, response)) return;
    if (request.url === "/livez") return answer(response, 200, "live\n");
    if (request.url === "/readyz") return void answerReadiness(request, response, isReady);
    if (request.url === "/metrics" && metricsPage) return void answerMetrics(response, metricsPage);
    for (const [name, value] of Object.entries(responseHeaders)) response.setHeader(name, value);
    if (introspection(request, response) !== undefined) return;
    void rpc(request, response);
  };
}

function createOperations({ services, problemsUrl, chain, validate, observe }: InternalApiOptions) {
  return createRpcHandler({
    ...messageLimits,
    maxTimeLimitMs: MAX_TIME_LIMIT_MS,
    maxStreamMs: MAX_STREAM_MS,
    stalledMs: STALLED_STREAM_MS,
    services: services.map(answeringCalls),
    onHeaders: [problems(problemsUrl, observe), ...chain.onHeaders, actor()],
    onMessage: chain.onMessage,
    openValues: (request) => valuesOf(callFor(request)),
    validate,
    maxItems: maxItemsOf,
    refuse: (method, listed) => invalidMessage(method, listed, (_, errors) => errors),
  });
}

/** The OpenAPI document and the page that is made of it. Says whether a request was for them. */
function createPages(options: InternalApiOptions): (request: HttpRequest, response: HttpResponse) => boolean {
  const refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) =>
    sendProblem(request, response, error, options);
  const documents = createDocumentPages({
    prefix: "",
    now: options.now,
    describe: async (nowMs) => {
      const { describeConnect } = await import("./openapi/connect-document.js");
      const { requestExamples } = await import("./openapi/examples/request-examples.js");
      return describeConnect({ ...options, listErrors: listViolations, examples: requestExamples(nowMs) });
    },
    refuse,
  });
  const reference = createReferencePages({
    title: "Cupo, internal operations",
    documentPath: "/openapi.json",
    issueToken: options.issueToken,
    refuse,
  });
  return (request, response) => documents(request, response) || reference(request, response);
}

async function answerReadiness(_: HttpRequest, response: HttpResponse, isReady: () => Promise<boolean>): Promise<void> {
  const ready = await isReady().catch(() => false);
  answer(response, ready ? 200 : 503, ready ? "ready\n" : "not ready\n");
}

async function answerMetrics(response: HttpResponse, metricsPage: () => Promise<string>): Promise<void> {
  const page = await metricsPage().catch(() => undefined);
  if (page === undefined) answer(response, 500, "no metrics\n");
  else answer(response, 200, page, "text/plain; version=0.0.4; charset=utf-8");
}

function answer(response: HttpResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
  response.end(text);
}

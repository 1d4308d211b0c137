import { introspection } from "@cupo/connect-introspection";
import { listViolations } from "@cupo/connect-rest";
import type { CupoError } from "../errors.js";
import { actor } from "../interceptors/actor.js";
import { answeringCalls } from "../interceptors/answering-calls.js";
import type { Chain } from "../interceptors/chain.js";
import { problems } from "../interceptors/problems.js";
import { interceptorsFor } from "../interceptors/stage.js";
import type { Stopping } from "../interceptors/stream-life.js";
import { maxItemsOf } from "../interceptors/validation/size-limits.js";
import { invalidMessage, type MessageValidator } from "../interceptors/validation/validation.js";
import { callFor, valuesOf } from "../open-call.js";
import { dailyDocument, documentPages } from "../openapi/document-pages.js";
import { introduction } from "../openapi/introduction.js";
import { CLINIC_BASE_PATH } from "../operation.js";
import { serveResources } from "../pages/serve-resources.js";
import { fieldErrorsOf } from "../problems/problem.js";
import { type DemoTokens, referencePages } from "../reference-page/reference-pages.js";
import type { HttpHandler, HttpRequest, HttpResponse } from "../request-log.js";
import { createRpcHandler } from "../rpc/handler.js";
import { createRouterHandler, type RouterHandler } from "../rpc/router-handler.js";
import type { ServiceEntry } from "../services/services.js";
import { clinicServices } from "./clinic-services.js";
import { messageLimits, responseHeaders } from "./listener-constants.js";
import { type ProblemOptions, sendProblem } from "./problem-answers.js";
import { createRestApi } from "./rest-api.js";

/** The options of the internal listener. */
export interface InternalApiOptions extends ProblemOptions {
  readonly services: readonly ServiceEntry[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether the service can take requests now. */
  readonly isReady: () => Promise<boolean>;
  readonly stopping: Pick<Stopping, "signal">;
  /** Whether gRPC reflection is served. */
  readonly reflection: boolean;
  /** Returns the page for `/metrics`, or undefined to answer 500. Without this function, the page does not exist. */
  readonly metricsPage?: (() => Promise<Buffer | undefined>) | undefined;
  /**
   * Signs demo tokens for the reference page. Undefined if an issuer is configured, or if the process does not print
   * the page's key ({@link DemoTokens.key}) on a terminal.
   */
  readonly demoTokens?: DemoTokens | undefined;
}

const MAX_TIME_LIMIT_MS = 30_000;
const MAX_STREAM_MS = 24 * 3_600_000;

/**
 * Creates the handler of the internal listener. It serves:
 *
 * - all operations over Connect, gRPC and gRPC-Web
 * - the operations of `cupo.clinic.v1` over REST
 * - the gRPC services of health and, if `reflection` is true, of reflection
 * - the OpenAPI document and the reference page of the operations
 * - pages for operators: `/livez` (the process runs), `/readyz` (it can take requests) and `/metrics`
 *   (docs/reference/telemetry.md)
 */
export function createInternalApi(options: InternalApiOptions): HttpHandler {
  const { isReady, metricsPage } = options;
  const rpc = createOperations(options);
  const pages = createPages(options);
  const introspect = createIntrospection(options);
  const services = clinicServices(options.services);
  const rest = createRestApi({ ...options, basePath: CLINIC_BASE_PATH, services, takesActor: true });
  return (request, response) => {
    if (pages(request, response)) return;
    if (request.url === "/livez") return answer(response, 200, "live\n");
    if (request.url === "/readyz") return void answerReadiness(request, response, isReady);
    if (request.url === "/metrics" && metricsPage) return void answerMetrics(response, metricsPage);
    for (const [name, value] of Object.entries(responseHeaders)) response.setHeader(name, value);
    if (introspect(request, response) !== undefined) return;
    void rest(request, response, () => void rpc(request, response));
  };
}

/**
 * Creates the handler of health and, if `reflection` is true, of reflection. It requires no access token, as
 * supervisors and tools expect. So every caller of the internal listener can read the health of the RPC services, and
 * with reflection also their definitions.
 */
function createIntrospection({ services, isReady, stopping, reflection }: InternalApiOptions): RouterHandler {
  const published = services.map(({ service }) => service);
  return createRouterHandler(
    introspection({ services: published, isServing: isReady, stopping: stopping.signal, reflection }),
  );
}

function createOperations({ services, problemsUrl, chain, validate, observe }: InternalApiOptions) {
  return createRpcHandler({
    ...messageLimits,
    maxTimeLimitMs: MAX_TIME_LIMIT_MS,
    maxStreamMs: MAX_STREAM_MS,
    services: services.map(answeringCalls),
    translateErrors: problems(problemsUrl, observe),
    headerInterceptors: interceptorsFor([...chain.onHeaders, { stage: actor() }]),
    interceptors: interceptorsFor(chain.onMessage),
    openValues: (request) => valuesOf(callFor(request)),
    validate,
    maxItems: maxItemsOf,
    refuse: (method) => {
      const invalid = invalidMessage(method, (_, errors) => errors);
      return (listed) => invalid(fieldErrorsOf(listed));
    },
  });
}

/**
 * Creates the handler of the OpenAPI document and the reference page. The handler returns whether it answers the
 * request. It returns false for all other paths.
 */
function createPages(options: InternalApiOptions): (request: HttpRequest, response: HttpResponse) => boolean {
  const refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) =>
    sendProblem(request, response, error, options);
  const { now, demoTokens } = options;
  const document = dailyDocument(now, async (nowMs) => {
    const { describeInternal } = await import("../openapi/documents/internal-document.js");
    const { requestExamples } = await import("../openapi/examples/request-examples.js");
    return describeInternal({ ...options, listErrors: listViolations, examples: requestExamples(nowMs) });
  });
  const reference = referencePages({ document, introduction, documentPath: "/openapi.json", demoTokens });
  return serveResources([...documentPages("", document), ...reference], refuse);
}

async function answerReadiness(_: HttpRequest, response: HttpResponse, isReady: () => Promise<boolean>): Promise<void> {
  const ready = await isReady().catch(() => false);
  answer(response, ready ? 200 : 503, ready ? "ready\n" : "not ready\n");
}

async function answerMetrics(response: HttpResponse, metricsPage: () => Promise<Buffer | undefined>): Promise<void> {
  const page = await metricsPage();
  if (page === undefined) answer(response, 500, "no metrics\n");
  else answer(response, 200, page, "text/plain; version=0.0.4; charset=utf-8");
}

function answer(
  response: HttpResponse,
  status: number,
  text: string | Buffer,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
  response.end(text);
}

import { connectNodeAdapter } from "@connectrpc/connect-node";
import { answeringCalls } from "./interceptors/answering-calls.js";
import type { Chain } from "./interceptors/chain.js";
import { valuesOf } from "./interceptors/open-call.js";
import type { ErrorObserver } from "./interceptors/problems.js";
import { problems } from "./interceptors/problems.js";
import { callFor, type HttpHandler, type HttpRequest, type HttpResponse } from "./request-log.js";
import type { ServiceEntry } from "./services/services.js";

/** What the internal listener serves. */
export interface InternalApiOptions {
  readonly problemsUrl: string;
  readonly services: readonly ServiceEntry[];
  readonly chain: Chain;
  readonly observe: ErrorObserver;
  /** Whether the service can take requests now. */
  readonly isReady: () => Promise<boolean>;
}

/** Larger than a REST body may be, because the same request takes more room in some encodings, and still bounded. */
const MAX_MESSAGE_BYTES = 128 * 1024;
const MAX_TIMEOUT_MS = 30_000;

/**
 * The handler of the internal listener: Connect, gRPC and gRPC-Web, and two pages for whoever runs the process: `/livez`
 * says that it runs, `/readyz` whether it should get requests. Connect's calls by GET are refused: they put the message
 * into the address, and addresses, with the document numbers in them, end up in the logs of proxies.
 */
export function createInternalApi({ problemsUrl, services, chain, observe, isReady }: InternalApiOptions): HttpHandler {
  const rpc = connectNodeAdapter({
    interceptors: [problems(problemsUrl, observe), ...chain.onHeaders, ...chain.onMessage],
    contextValues: (request) => valuesOf(callFor(request)),
    readMaxBytes: MAX_MESSAGE_BYTES,
    maxTimeoutMs: MAX_TIMEOUT_MS,
    jsonOptions: { ignoreUnknownFields: false, alwaysEmitImplicit: true },
    routes: (router) => {
      for (const { service, implementation } of services.map(answeringCalls)) router.service(service, implementation);
    },
  });
  return (request, response) => {
    if (request.url === "/livez") return answer(response, 200, "live\n");
    if (request.url === "/readyz") return void answerReadiness(request, response, isReady);
    if (request.method !== "POST") return answer(response, 405, "only POST\n", { Allow: "POST" });
    return rpc(request, response);
  };
}

async function answerReadiness(_: HttpRequest, response: HttpResponse, isReady: () => Promise<boolean>): Promise<void> {
  const ready = await isReady().catch(() => false);
  answer(response, ready ? 200 : 503, ready ? "ready\n" : "not ready\n");
}

function answer(response: HttpResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", ...headers });
  response.end(text);
}

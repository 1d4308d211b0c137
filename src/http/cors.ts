import { cors } from "@connectrpc/connect";
import { sendResponse } from "@cupo/connect-rest/node";
import type { Answerer } from "./protocol-server.js";

type Handler = Answerer["handler"];
type Request = Parameters<Handler>[0];

/** The HTTP methods of operations: the methods of Connect and gRPC-Web, and further methods of REST. */
export const corsMethods: readonly string[] = [...cors.allowedMethods, "PUT", "PATCH", "DELETE"];

/**
 * The request headers of operations. Headers such as Accept are not listed, because browsers send them without a
 * preflight request.
 */
export const corsRequestHeaders: readonly string[] = [
  ...cors.allowedHeaders,
  "Authorization",
  "Idempotency-Key",
  "X-Correlation-Id",
  "Actor-Id",
  "If-None-Match",
  "Last-Event-ID",
  "Traceparent",
  "Tracestate",
];

/** The response headers that pages may read, in addition to the headers that pages may always read. */
export const corsResponseHeaders: readonly string[] = [
  ...cors.exposedHeaders,
  "X-Correlation-Id",
  "RateLimit-Policy",
  "RateLimit",
  "Retry-After",
  "Idempotent-Replayed",
  "ETag",
  "WWW-Authenticate",
  "Allow",
  "Accept-Post",
];

/** How long a browser keeps the answer to a preflight, in seconds. This is the maximum in Chromium. */
const PREFLIGHT_SECONDS = 7_200;

const preflightHeaders = {
  "Access-Control-Allow-Methods": corsMethods.join(", "),
  "Access-Control-Allow-Headers": corsRequestHeaders.join(", "),
  "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
};

/**
 * Lets pages of these origins read all answers, errors too (fetch.spec.whatwg.org, "CORS protocol"). Answers a
 * preflight of such an origin with 204, without calling the handler. `["*"]` stands for every origin. Credentials that
 * browsers send on their own, such as cookies, are not allowed. If `origins` is empty, returns `answerer` itself.
 */
export function withCors(origins: readonly string[], answerer: Answerer): Answerer {
  if (origins.length === 0) return answerer;
  const headersFor = createCorsHeaders(origins);
  return {
    handler(request, response) {
      const headers = headersFor(request);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (!isPreflight(request) || !(ALLOW_ORIGIN in headers)) return answerer.handler(request, response);
      void sendResponse(request, response, { status: 204, headers: preflightHeaders, body: "" }, 0);
    },
    socketError(kind, request) {
      const answer = answerer.socketError(kind, request);
      return { ...answer, headers: { ...headersFor(request), ...answer.headers } };
    },
  };
}

const ALLOW_ORIGIN = "Access-Control-Allow-Origin";

/**
 * Returns a function that creates the CORS headers of an answer. Unless `origins` contains `*`, every answer has `Vary:
 * Origin`, even to a request without Origin. Caches then store the answers for each origin separately.
 */
function createCorsHeaders(origins: readonly string[]): (request?: Request) => Record<string, string> {
  const exposed = { "Access-Control-Expose-Headers": corsResponseHeaders.join(", ") };
  const isAny = origins.includes("*");
  const vary: Record<string, string> = isAny ? {} : { Vary: "Origin" };
  return (request) => {
    const origin = request?.headers.origin;
    if (isAny) return { [ALLOW_ORIGIN]: "*", ...exposed };
    if (origin === undefined || !origins.includes(origin)) return vary;
    return { ...vary, [ALLOW_ORIGIN]: origin, ...exposed };
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

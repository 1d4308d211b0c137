import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Logger } from "pino";
import type { Call } from "./call.js";
import type { CupoError } from "./errors.js";
import { openCall } from "./interceptors/open-call.js";

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

/** Watches the requests of a listener, for metrics and traces. Must not throw. */
export interface RequestObserver {
  /** A request has begun; nothing of it was judged. */
  began(request: HttpRequest, call: Call): void;
  /** Its answer is done, or nobody waits for one any more. */
  ended(request: HttpRequest, response: HttpResponse, call: Call): void;
}

const calls = new WeakMap<HttpRequest, Call>();

/** The call of a request; opened when it is first asked for, so that the whole way of a request shares one. */
export function callFor(request: HttpRequest): Call {
  const known = calls.get(request);
  if (known !== undefined) return known;
  const call = openCall(request);
  calls.set(request, call);
  return call;
}

/**
 * Gives every answer of a listener its X-Correlation-Id and writes a line when it is done: what was asked for by whom,
 * how it ended and how long it took, and in which trace it is; no status where the caller left before the answer. Nothing of path, query, headers or
 * bodies is in it, because they can hold personal data.
 */
export function logged(handle: HttpHandler, logger: Logger, observer?: RequestObserver): HttpHandler {
  return (request, response) => {
    const call = callFor(request);
    observer?.began(request, call);
    response.setHeader("X-Correlation-Id", call.correlationId);
    response.once("close", () => {
      observer?.ended(request, response, call);
      logger.info(
        {
          operation: call.operation,
          status: response.headersSent ? response.statusCode : undefined,
          code: call.problemCode,
          ms: Math.round((performance.now() - call.startedAt) * 10) / 10,
          correlationId: call.correlationId,
          principal: call.principal?.id,
          tenantId: call.principal?.tenantId,
          ...traceFields(call),
        },
        "request",
      );
    });
    handle(request, response);
  };
}

/** Writes that connections were refused, at most once in `everyMs`: under attack there is no end of them. */
export function logRefusedConnections(logger: Logger, everyMs: number): (limit: string) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  return (limit) => {
    if (performance.now() - writtenAt < everyMs) return;
    writtenAt = performance.now();
    logger.warn({ limit }, "connections are refused");
  };
}

/** Remembers how a call failed for its line, and writes a line of its own for a failure that is the service's. */
export function observeError(error: CupoError, call: Call, logger: Logger): void {
  call.problemCode = error.code;
  if (error.cause === undefined) return;
  const cause = describe(error.cause);
  logger.error({ code: error.code, correlationId: call.correlationId, ...traceFields(call), cause }, "call failed");
}

/** By which log lines and traces are brought together; the names are OpenTelemetry's for logs that are no OTLP. */
function traceFields({ trace }: Call): Record<string, string> | undefined {
  return trace === undefined ? undefined : { trace_id: trace.traceId, span_id: trace.spanId };
}

/**
 * What can be said about an error without its message, which may quote values: PostgreSQL's messages hold parts of rows.
 */
export function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, constraint, table, routine } = error as Error & Record<string, unknown>;
  const frames = error.stack
    ?.replace(error.message, "")
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .slice(0, 12);
  return { name: error.name, code, constraint, table, routine, frames: frames?.map((line) => line.trim()) };
}

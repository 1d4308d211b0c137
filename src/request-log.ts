import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { cutResponse } from "@cupo/connect-rest/node";
import type { Logger } from "pino";
import type { Call } from "./call.js";
import type { CupoError } from "./errors.js";
import { callFor } from "./open-call.js";

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

/** Observes the requests of a listener, for metrics and traces. Must not throw. */
export interface RequestObserver {
  /** Called when a request has arrived, before it is handled. */
  began(request: HttpRequest, call: Call): void;
  /** Called when the answer is complete or the caller has disconnected. */
  ended(request: HttpRequest, response: HttpResponse, call: Call): void;
}

/**
 * Adds X-Correlation-Id to every answer of a listener. Logs one line when the answer ends or the caller disconnects.
 * The line has only the fields below, because paths, queries, headers and bodies can hold personal data. It has no
 * status if the caller disconnected before the answer.
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

/**
 * Returns a handler that calls `handle`. If `handle` throws, the process goes on: the returned handler logs the error
 * and cuts the answer ({@link cutResponse}).
 */
export function contained(handle: HttpHandler, logger: Logger): HttpHandler {
  return (request, response) => {
    try {
      handle(request, response);
    } catch (error) {
      logger.error({ cause: describe(error) }, "answering a request failed; its connection or stream is closed");
      cutResponse(response);
    }
  };
}

/**
 * Returns a function that logs the limit that rejected a connection or request. It logs at most once per `everyMs`
 * milliseconds, because an attack can cause any number of rejections.
 */
export function logRefusedConnections(logger: Logger, everyMs: number): (limit: string) => void {
  return rarely(everyMs, (limit) =>
    logger.warn({ limit }, "connections or requests are rejected: a limit of the listener is reached"),
  );
}

/**
 * The faults of tokens that were not signed by a key of the issuer. Other faults, such as an expired token, are usually
 * mistakes of clients.
 */
const FORGED: ReadonlySet<string> = new Set(["ALGORITHM", "UNKNOWN_KEY", "SIGNATURE"]);

/**
 * Returns a function that logs the fault of a rejected token, if it is in {@link FORGED}. It logs at most once per
 * `everyMs` milliseconds. The log line contains no part of a token.
 */
export function logForgedTokens(logger: Logger, everyMs: number): (fault: string) => void {
  const log = rarely(everyMs, (fault) =>
    logger.warn({ fault }, "access tokens were rejected: not signed by a key of the issuer"),
  );
  return (fault) => {
    if (FORGED.has(fault)) log(fault);
  };
}

function rarely(everyMs: number, write: (what: string) => void): (what: string) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  return (what) => {
    if (performance.now() - writtenAt < everyMs) return;
    writtenAt = performance.now();
    write(what);
  };
}

/**
 * Stores the error code of a failed call for its log line, and the name of the exceeded limit for telemetry. If the
 * error has a `cause`, the service is at fault, and the function also logs an error line.
 */
export function observeError(error: CupoError, call: Call, logger: Logger): void {
  call.problemCode = error.code;
  if (error.limit !== undefined) call.limit = error.limit;
  if (error.cause === undefined) return;
  const cause = describe(error.cause);
  logger.error({ code: error.code, correlationId: call.correlationId, ...traceFields(call), cause }, "call failed");
}

/** Fields that connect log lines with traces. OpenTelemetry defines their names for log formats other than OTLP. */
function traceFields({ trace }: Call): Record<string, string> | undefined {
  return trace === undefined ? undefined : { trace_id: trace.traceId, span_id: trace.spanId };
}

/**
 * Returns the loggable parts of an error. The message is excluded, because it may quote values: PostgreSQL's messages
 * contain parts of rows.
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

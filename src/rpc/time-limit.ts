import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createDeadlineSignal } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import type { Protocol } from "./incoming.js";

/** The header with the caller's time limit, per protocol. */
export const timeLimitHeaders: Readonly<Record<Protocol, string>> = {
  connect: "Connect-Timeout-Ms",
  grpc: "Grpc-Timeout",
  "grpc-web": "Grpc-Timeout",
};

/**
 * Returns a caller's time limit in whole milliseconds. A limit longer than `maxMs` is reduced to `maxMs`. Returns
 * undefined if there is no header, and "bad" if the header has the wrong format.
 */
export function readTimeLimit(headers: Headers, protocol: Protocol, maxMs: number): number | "bad" | undefined {
  const parse = protocol === "connect" ? parseConnectTimeout : parseGrpcTimeout;
  const { timeoutMs, error } = parse(headers.get(timeLimitHeaders[protocol]), Number.POSITIVE_INFINITY);
  if (error !== undefined) return "bad";
  return timeoutMs === undefined ? undefined : Math.min(Math.ceil(timeoutMs), maxMs);
}

/** A running time limit. */
export interface OpenTimeLimit {
  /** Aborts with deadline_exceeded when the limit expires. Also aborts when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Returns the remaining milliseconds; negative after the limit has expired. */
  readonly timeoutMs: () => number;
  /** Releases the timer. */
  close(): void;
}

/** Starts a caller's time limit of `limitMs` milliseconds. `gone` aborts when the caller disconnects. */
export function openTimeLimit(limitMs: number, gone: AbortSignal): OpenTimeLimit {
  const endsAt = performance.now() + limitMs;
  const deadline = createDeadlineSignal(limitMs);
  return {
    signal: AbortSignal.any([gone, deadline.signal]),
    timeoutMs: () => endsAt - performance.now(),
    close: deadline.cleanup,
  };
}

/**
 * Ends a call with deadline_exceeded when its time limit expires:
 * - A unary call is answered immediately. Its work continues, so the caller does not know whether the call takes
 *   effect.
 * - A stream ends itself when the signal of the call aborts. Functions of Node.js then throw an AbortError. So every
 *   error of a stream after the time limit becomes deadline_exceeded.
 */
export const endAtTimeLimit: Interceptor = (next) => async (request) => {
  const { signal } = request;
  if (!request.stream) return untilOver(next(request), signal);
  const response = await next(request).catch((error: unknown) => rethrow(error, signal));
  return response.stream ? { ...response, message: untilError(response.message, signal) } : response;
};

async function* untilError<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    rethrow(error, signal);
  }
}

function rethrow(error: unknown, { reason }: AbortSignal): never {
  throw isTimeLimit(reason) ? reason : error;
}

function untilOver<T>(response: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      if (isTimeLimit(signal.reason)) reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    response.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function isTimeLimit(reason: unknown): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}

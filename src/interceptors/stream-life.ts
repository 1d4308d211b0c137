import { setMaxListeners } from "node:events";
import { Code, ConnectError, type Interceptor, type StreamResponse } from "@connectrpc/connect";
import { createLinkedAbortController } from "@connectrpc/connect/protocol";
import { callOf } from "../call.js";
import { CupoError, unavailable } from "../errors.js";
import { type TokenVerifier, verifyCaller } from "./authentication.js";
import type { Stage } from "./stage.js";

const CHECK_EVERY_MS = 1_000;

/**
 * Ends a stream when `stopping` aborts, or when the caller's access token becomes invalid or cannot be verified. A
 * stream that waits for its next message also ends. The caller receives the reason as an error.
 *
 * The token is verified before each message and once per second. So no message is sent after the token has expired, or
 * after the loaded key set no longer has the token's key. The stream then ends within a second. Unary methods do not
 * get this stage.
 */
export function streamLife(verify: TokenVerifier, stopping: AbortSignal): Stage {
  return ({ methodKind }) => (methodKind === "unary" ? undefined : living(verify, stopping));
}

function living(verify: TokenVerifier, stopping: AbortSignal): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) throw new Error("a stream was called by a message");
    const call = callOf(request.contextValues);
    const end = createLinkedAbortController(request.signal, stopping);
    const check = () => verifyCaller(call, verify).catch((error: unknown) => end.abort(error));
    const timer = setInterval(() => void check(), CHECK_EVERY_MS);
    const { signal } = end;
    const close = () => {
      clearInterval(timer);
      end.abort();
    };
    try {
      const response = await next({ ...request, signal });
      if (!response.stream) throw new Error("a stream was answered by a message");
      return { ...response, message: untilAborted(response.message, { signal, check, close }) };
    } catch (error) {
      close();
      throw error;
    }
  };
}

/** Ends the open streams when the service stops, because open streams keep their listener open. */
export interface Stopping {
  /** Aborts when the service stops. The reason of the abort is the error with which open streams end. */
  readonly signal: AbortSignal;
  stop(): void;
}

/**
 * Creates a {@link Stopping}. Its signal has no limit of event listeners: every open stream adds one listener, and
 * Node.js would report more than ten listeners as a leak.
 */
export function createStopping(): Stopping {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return { signal: controller.signal, stop: () => controller.abort(serviceStopping()) };
}

/**
 * Returns the error with which streams end at shutdown. The caller can open the stream again at another process or
 * after the restart.
 */
function serviceStopping(): CupoError {
  return unavailable("The service is stopping. Open the stream again.", 1);
}

interface Life {
  readonly signal: AbortSignal;
  readonly check: () => Promise<unknown>;
  readonly close: () => void;
}

async function* untilAborted(
  messages: StreamResponse["message"],
  { signal, check, close }: Life,
): StreamResponse["message"] {
  const iterator = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await nextUnlessAborted(iterator, signal);
      if (done) return;
      await check();
      if (signal.aborted) throw signal.reason;
      yield value;
    }
  } catch (error) {
    throw signal.aborted ? endOf(signal) : error;
  } finally {
    close();
    iterator.return?.().catch(() => undefined);
  }
}

/** Returns the next message, or rejects when the signal aborts. Removes its listener when `next()` settles. */
function nextUnlessAborted<T>(iterator: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T>> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Returns the error for the caller: the service's reason for the abort, or `canceled` if the caller disconnected. */
function endOf({ reason }: AbortSignal): unknown {
  if (reason instanceof CupoError || reason instanceof ConnectError) return reason;
  return new ConnectError("the caller disconnected", Code.Canceled);
}

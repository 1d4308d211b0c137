import { setMaxListeners } from "node:events";
import { Code, ConnectError, type Interceptor, type StreamResponse } from "@connectrpc/connect";
import { createLinkedAbortController } from "@connectrpc/connect/protocol";
import { callOf } from "../call.js";
import { CupoError, serviceStopping } from "../errors.js";
import { type TokenVerifier, verifyCaller } from "./authentication.js";

const CHECK_EVERY_MS = 1_000;

/**
 * Ends a stream when its time has come, whatever its implementation waits for: with `stopping`, whose reason the caller is told,
 * and with the access token, which is judged again with each message and once a second. So nothing is sent after a token
 * has expired, or its key was withdrawn, and the stream is over a second later. Calls that are not streams pass.
 */
export function streamLife(verify: TokenVerifier, stopping: AbortSignal): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) return next(request);
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

/** Tells the open streams of a service that it stops: they would keep their listener open. */
export interface Stopping {
  /** Aborts with the error that streams end with. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** As many streams listen to the signal as are open, which Node.js would take for a leak. */
export function createStopping(): Stopping {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return { signal: controller.signal, stop: () => controller.abort(serviceStopping()) };
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

/** What comes next, without waiting for it any longer than the signal lets. Leaves nothing behind on the signal. */
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

/** What the caller is told: why the service ended the stream, or that the caller did. */
function endOf({ reason }: AbortSignal): unknown {
  if (reason instanceof CupoError || reason instanceof ConnectError) return reason;
  return new ConnectError("the caller went away", Code.Canceled);
}

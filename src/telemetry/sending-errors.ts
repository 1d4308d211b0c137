import { loggingErrorHandler, setGlobalErrorHandler } from "@opentelemetry/core";

const TELL_EVERY_MS = 60_000;

/**
 * Has errors of what is sent in the background told, once a minute at most. The SDK has one place for them, which is that of who
 * asked last. Returns the way to leave it.
 */
export function reportSendingErrors(onError: (error: unknown) => void): () => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    onError(error);
  });
  return () => setGlobalErrorHandler(loggingErrorHandler());
}

import { loggingErrorHandler, setGlobalErrorHandler } from "@opentelemetry/core";

const REPORT_EVERY_MS = 60_000;

/**
 * Reports export errors to `onError`, at most once a minute. The SDK has one global error handler; the last caller of
 * this function gets the errors. Returns a function that restores the default handler.
 */
export function reportSendingErrors(onError: (error: unknown) => void): () => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    onError(error);
  });
  return () => setGlobalErrorHandler(loggingErrorHandler());
}

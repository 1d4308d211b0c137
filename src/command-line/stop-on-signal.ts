import type { Logger } from "pino";

/**
 * A second signal within these milliseconds counts as the first one. With Ctrl-C the process gets SIGINT from the
 * terminal and again from npm.
 */
const SAME_SIGNAL_MS = 1_000;

/**
 * Stops gracefully at the first SIGTERM, SIGINT or SIGHUP, and at once at a later one. SIGTERM comes from an
 * orchestrator and drains for `drainMs`. The other signals do not drain. The first signal of any kind aborts the
 * returned AbortSignal. `fail` is called with an error of `close`.
 */
export function stopOnSignal(
  close: (drainMs: number) => Promise<void>,
  drainMs: number,
  logger: Logger,
  fail: (error: unknown) => void,
): AbortSignal {
  const stopping = new AbortController();
  let stoppedAt = 0;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted && performance.now() - stoppedAt < SAME_SIGNAL_MS) return;
    if (stopping.signal.aborted) process.exit(1);
    stoppedAt = performance.now();
    stopping.abort();
    logger.info({ signal }, "stopping");
    close(signal === "SIGTERM" ? drainMs : 0).then(() => process.exit(0), fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGHUP", stop);
  process.on("SIGINT", stop);
  return stopping.signal;
}

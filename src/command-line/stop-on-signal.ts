import type { Logger } from "pino";

/** A signal that comes again so soon is the same one, sent twice: Ctrl-C reaches npm and what it runs, and npm passes it on. */
const SAME_SIGNAL_MS = 1_000;

/**
 * The first signal stops gracefully, a later one at once: SIGTERM, which comes from whoever runs the process, after `drainMs`;
 * SIGINT, which comes from a keyboard, without. What is given is aborted by the first. `fail` is told what kept it from closing.
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
  process.on("SIGINT", stop);
  return stopping.signal;
}

import type { Logger } from "pino";

/**
 * Further signals within this many milliseconds after the first one are ignored. After Ctrl-C the process gets SIGINT
 * twice: from the terminal and from npm.
 */
const SAME_SIGNAL_MS = 1_000;

/**
 * At the first SIGTERM, SIGINT or SIGHUP, calls `close` and aborts the returned AbortSignal.
 * - For SIGTERM, which an orchestrator sends, `close` gets `drainMs`. For SIGINT and SIGHUP, it gets 0 and does not
 *   drain.
 * - When `close` resolves, the process ends with exit code 0. When it rejects, `fail` is called with the error.
 * - A further signal, more than 1 s later, ends the process immediately with exit code 1.
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

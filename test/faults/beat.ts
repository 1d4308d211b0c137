import { setTimeout } from "node:timers/promises";

/** Whether the clients of storms pause between calls. PAUSES=none disables the pauses, for the highest load. */
export const hasPauses = process.env["PAUSES"] !== "none";

/**
 * Resolves at the next multiple of `everyMs` milliseconds, at the same time for all callers; immediately if pauses are
 * disabled. Clients that call it before each request still send their requests concurrently. Between the beats the
 * machine can start and stop processes, which slows down under load.
 */
export async function nextBeat(everyMs: number): Promise<void> {
  if (hasPauses) await setTimeout(everyMs - (performance.now() % everyMs));
}

import { setTimeout } from "node:timers/promises";

/** Whether storms have pauses; without them, where PAUSES is none, they are as dense as the machine can. */
export const hasPauses = process.env["PAUSES"] !== "none";

/**
 * Resolves at the next beat of a clock that has one every so many milliseconds, for all who wait for it at the same moment; at once
 * where there are no pauses. Clients that wait for it before each call are at work at the same time, as they would be without it, and
 * leave the machine to what is started and stopped between, which takes the longer the more they call.
 */
export async function nextBeat(everyMs: number): Promise<void> {
  if (hasPauses) await setTimeout(everyMs - (performance.now() % everyMs));
}

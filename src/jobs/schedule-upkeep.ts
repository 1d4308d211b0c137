import { type ExtensionPorts, extendSchedules } from "./extend-schedules.js";
import { purgeOptionTokens } from "./purge-option-tokens.js";

const INTERVAL_MS = 60 * 60_000;

/**
 * Extends schedules and forgets used option tokens, now and every hour. What fails is reported and left to the next time.
 * Returns the way to stop, which waits for what is being done.
 */
export function scheduleUpkeep(ports: Omit<ExtensionPorts, "signal">): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  let running: Promise<void> | undefined;
  const runOnce = () => {
    running ??= upkeep({ ...ports, signal }).finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(runOnce, INTERVAL_MS).unref();
  runOnce();
  return async () => {
    clearInterval(timer);
    ending.abort();
    await running;
  };
}

async function upkeep(ports: ExtensionPorts): Promise<void> {
  await extendSchedules(ports).catch(ports.onError);
  await purgeOptionTokens(ports.database, ports.signal).catch(ports.onError);
}

import type { KeyRing } from "../option-tokens/key-ring.js";

const INTERVAL_MS = 30 * 60_000;

/** Rotates the keys of option tokens now and then; a failure is reported and left to the next time. Returns the way to stop. */
export function scheduleKeyRotation(ring: KeyRing, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void ring.rotate().catch(onError), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

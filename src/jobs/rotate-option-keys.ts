import type { KeyRing } from "../option-tokens/key-ring.js";

const INTERVAL_MS = 30 * 60_000;

/**
 * Calls {@link KeyRing.rotate} every 30 min. It creates a key only if the newest key is old enough. If a call fails,
 * calls `onError` and continues. Returns a function that stops these calls.
 */
export function scheduleKeyRotation(ring: KeyRing, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void ring.rotate().catch(onError), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

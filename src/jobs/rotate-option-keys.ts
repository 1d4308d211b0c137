import type { KeyRing } from "../option-tokens/key-ring.js";

const INTERVAL_MS = 30 * 60_000;

/**
 * Rotates the keys of a key ring every 30 min. If a rotation fails, calls `onError` and continues. Returns a function
 * that stops the rotation.
 */
export function scheduleKeyRotation(ring: KeyRing, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void ring.rotate().catch(onError), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

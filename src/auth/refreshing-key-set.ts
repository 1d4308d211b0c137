import type { CryptoKey } from "jose";
import { CupoError } from "../errors.js";
import { keyName } from "./import-keys.js";
import type { KeyReference, KeySet } from "./key-set.js";
import { type KeySource, rememberKeys } from "./remember-keys.js";

/** A source of keys, and how often it is asked. */
export interface RefreshedKeySource extends KeySource {
  /** How old the keys get before they are loaded again in the background. */
  readonly refreshMs: number;
}

const unknownKeyPauseMs = 30_000;
const noKeysPauseMs = 5_000;
const tickMs = 1_000;

/**
 * Loads the keys at once and again in the background, one load at a time. While loads fail the last good set serves for
 * 24 h; after that, and until the first load succeeds, there is no usable set. A key that the set lacks may be new, so
 * asking for it starts a load, but at most every 30 s (5 s while there is no usable set): tokens with made-up key ids
 * cannot make the service flood its issuer, and tokens with known ones never wait. Failed loads are repeated at the same
 * pace. Pauses are counted in both directions, so that a clock that is set back does not stop the loads. The timer does
 * not keep the process alive.
 */
export function openRefreshingKeySet(source: RefreshedKeySource): KeySet {
  const { now, refreshMs } = source;
  const memory = rememberKeys(source);
  const closing = new AbortController();
  let triedAt = Number.NEGATIVE_INFINITY;
  let failing = false;
  let inFlight: Promise<void> | undefined;

  const pauseMs = () => (memory.keys() === undefined ? noKeysPauseMs : unknownKeyPauseMs);
  const refreshAfter = (ms: number) => {
    if (Math.abs(now() - triedAt) >= ms) inFlight ??= refresh();
    return inFlight;
  };

  async function refresh(): Promise<void> {
    triedAt = now();
    try {
      await memory.load(closing.signal);
      failing = false;
    } catch (error) {
      failing = true;
      if (!closing.signal.aborted) source.onError(error instanceof Error ? error : new Error(String(error)));
    } finally {
      inFlight = undefined;
    }
  }

  async function key(reference: KeyReference): Promise<CryptoKey | undefined> {
    const known = memory.keys()?.get(keyName(reference));
    if (known !== undefined) return known;
    await refreshAfter(pauseMs());
    const keys = memory.keys();
    if (keys === undefined) throw noUsableKeys();
    return keys.get(keyName(reference));
  }

  const timer = setInterval(() => void refreshAfter(failing ? pauseMs() : refreshMs), tickMs).unref();
  void refreshAfter(0);
  return { key, generation: memory.generation, close: () => stop(timer, closing) };
}

function stop(timer: NodeJS.Timeout, closing: AbortController): void {
  clearInterval(timer);
  closing.abort();
}

function noUsableKeys(): CupoError {
  return new CupoError("SERVICE_UNAVAILABLE", {
    detail: "The service cannot verify access tokens at the moment.",
    headers: { "Retry-After": String(noKeysPauseMs / 1000) },
  });
}

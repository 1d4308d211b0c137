import { createRemoteJWKSet, customFetch, type ExportedJWKSCache, type FetchImplementation, jwksCache } from "jose";
import { CupoError } from "../errors.js";
import type { KeySet } from "./key-set.js";
import { usableKeys } from "./usable-keys.js";

/** The source of the keys, with the interval and the time limit of the loads. */
export interface KeySource {
  readonly url: URL;
  /**
   * Loads the current JSON Web Key Set document. Rejects if the document cannot be loaded, and when the signal aborts.
   */
  load(signal: AbortSignal): Promise<string>;
  /** Age in milliseconds at which the keys are loaded again in the background. */
  readonly refreshMs: number;
  /** Time limit of one complete load, in milliseconds. */
  readonly timeoutMs: number;
  /** Called for each load that fails or returns no usable key. Must not throw. */
  readonly onError: (error: Error) => void;
}

const outageMs = 24 * 60 * 60 * 1000;
const unknownKeyPauseMs = 30_000;
const noKeysPauseMs = 5_000;
const tickMs = 1_000;

/**
 * Opens a key set. It starts the first load immediately, and further loads in the background.
 * - While loads fail, the keys of the last successful load are accepted for 24 h.
 * - A token with an unknown key also starts a load, because the key may be new. Exception: the last successful load was
 *   less than 30 s ago.
 * - After a failed load, no load starts for 30 s, or for 5 s if no keys are available. Without this pause, each
 *   invented key id would cause a request to a failing issuer.
 * - A document without a usable key is a successful load, because this is how an issuer revokes all its keys. It is
 *   also reported to `onError`.
 * - The loads continue after the clock is set back.
 */
export function openRefreshingKeySet(source: KeySource): KeySet {
  const closing = new AbortController();
  const changes = countChanges();
  const { load, isDue, ageMs } = paceLoads(source, closing.signal, () => jwks.fresh);
  const jwks = createRemoteJWKSet(source.url, {
    cacheMaxAge: outageMs,
    cooldownDuration: unknownKeyPauseMs,
    timeoutDuration: source.timeoutMs,
    [customFetch]: load,
    [jwksCache]: changes.cache,
  });
  const refresh = () => {
    if (isDue()) jwks.reload().catch(() => undefined);
  };
  const timer = setInterval(refresh, tickMs).unref();
  refresh();
  return {
    key: (reference) =>
      jwks({ ...reference }).catch(() => {
        if (!jwks.fresh) throw noUsableKeys();
        return undefined;
      }),
    generation: () => (jwks.fresh ? changes.count() : 0),
    ageMs,
    close() {
      clearInterval(timer);
      closing.abort();
    },
  };
}

interface PacedLoads {
  /** Loads the usable keys. Rejects immediately during the pause after a failed load. */
  readonly load: FetchImplementation;
  /** Whether a background load can start: `refreshMs` after a successful load, or 30 s or 5 s after a failed load. */
  isDue(): boolean;
  /** Milliseconds since the last successful load; undefined before the first. */
  ageMs(): number | undefined;
}

function paceLoads(source: KeySource, closing: AbortSignal, isFresh: () => boolean): PacedLoads {
  let triedAt = Number.NEGATIVE_INFINITY;
  let failing = false;
  let loadedAt: number | undefined;

  const isDue = () => {
    const failurePauseMs = isFresh() ? unknownKeyPauseMs : noKeysPauseMs;
    return Math.abs(Date.now() - triedAt) >= (failing ? failurePauseMs : source.refreshMs);
  };
  return {
    isDue,
    ageMs: () => (loadedAt === undefined ? undefined : Math.max(0, Date.now() - loadedAt)),
    async load(_url, { signal }) {
      if (failing && !isDue()) throw new Error("the last load failed a moment ago");
      triedAt = Date.now();
      try {
        const keys = await usableKeys(await source.load(AbortSignal.any([closing, signal])));
        failing = false;
        loadedAt = Date.now();
        if (keys.keys.length === 0)
          source.onError(new Error("the key set contains no key that can verify access tokens"));
        return Response.json(keys);
      } catch (error) {
        failing = true;
        if (!closing.aborted) source.onError(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }
    },
  };
}

/** Returns a cache that counts the changes of a key set. jose writes each accepted set to the cache. */
function countChanges(): { readonly cache: ExportedJWKSCache; count(): number } {
  let count = 0;
  let current = "";
  return {
    count: () => count,
    cache: {
      uat: 0,
      get jwks() {
        return { keys: [] };
      },
      set jwks(keys) {
        const document = JSON.stringify(keys);
        if (document !== current) count += 1;
        current = document;
      },
    },
  };
}

function noUsableKeys(): CupoError {
  return new CupoError("SERVICE_UNAVAILABLE", {
    detail: "The service cannot verify access tokens at the moment.",
    headers: { "Retry-After": String(noKeysPauseMs / 1000) },
  });
}

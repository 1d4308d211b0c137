import { createRemoteJWKSet, customFetch, type ExportedJWKSCache, type FetchImplementation, jwksCache } from "jose";
import { CupoError } from "../errors.js";
import type { KeySet } from "./key-set.js";
import { usableKeys } from "./usable-keys.js";

/** Where keys come from, and how often they are asked for. */
export interface KeySource {
  readonly url: URL;
  /** The JSON Web Key Set document as it is now. Rejects where it cannot be had; gives up when the signal aborts. */
  load(signal: AbortSignal): Promise<string>;
  /** How old the keys get before they are loaded again in the background. */
  readonly refreshMs: number;
  /** For one load as a whole. */
  readonly timeoutMs: number;
  /** Told about each load that failed or had no usable key. Must not throw. */
  readonly onError: (error: Error) => void;
}

const outageMs = 24 * 60 * 60 * 1000;
const unknownKeyPauseMs = 30_000;
const noKeysPauseMs = 5_000;
const tickMs = 1_000;

/**
 * The remote set of jose, loaded at once and again in the background. jose does one load at a time, keeps the last good
 * set for 24 h while loads fail, and loads for a key that the set lacks, which may be new, but not within 30 s of the
 * last good load. It lacks a pause between loads that fail, without which every made-up key id is a request to an issuer
 * in trouble: here they are 30 s apart, 5 s while no set can be used. A document without a single usable key counts as
 * good, for that is how an issuer revokes all it has, but it is reported. Pauses are counted in both directions, so that
 * a clock that is set back does not stop the loads. The timer does not keep the process alive.
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
  /** Loads the usable keys, or fails at once where the last load failed a moment ago. */
  readonly load: FetchImplementation;
  /** Whether it is time for a load in the background. */
  isDue(): boolean;
  /** How long ago the last good load was; undefined where there was none. */
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
        if (keys.keys.length === 0) source.onError(new Error("the key set holds no key that can verify access tokens"));
        return Response.json(keys);
      } catch (error) {
        failing = true;
        if (!closing.aborted) source.onError(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }
    },
  };
}

/** Counts the changes of a remote set in the very moment of each: jose writes every set that it takes to its cache. */
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

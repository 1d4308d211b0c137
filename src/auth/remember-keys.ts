import { type ImportedKeys, importKeys } from "./import-keys.js";

/** Where keys come from. */
export interface KeySource {
  /** The JSON Web Key Set document as it is now. Rejects where it cannot be had; gives up when the signal aborts. */
  load(signal: AbortSignal): Promise<string>;
  /** Milliseconds of wall-clock time. */
  now(): number;
  /** Told about each load that failed and each set without a usable key. Must not throw. */
  readonly onError: (error: Error) => void;
}

/** The last good key set of a source. */
export interface RememberedKeys {
  /** Loads the set again and keeps the old one where that fails, with the reason as the rejection. */
  load(signal: AbortSignal): Promise<void>;
  /** The keys, unless none were ever loaded or the last good load is 24 h ago. */
  keys(): ImportedKeys | undefined;
  /** As {@link KeySet.generation}: moves when a loaded document differs from the one before, 0 without usable keys. */
  generation(): number;
}

const outageMs = 24 * 60 * 60 * 1000;

/**
 * Keeps the last good key set of a source through an outage of 24 h, which the remote set of jose cannot do: it refuses
 * every token once its own cache is too old. A document without a single usable key counts as good, for that is how an
 * issuer revokes all it has, but it is reported.
 */
export function rememberKeys(source: KeySource): RememberedKeys {
  let current: { document: string; keys: ImportedKeys; generation: number } | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  const usable = () => (source.now() - loadedAt < outageMs ? current : undefined);

  return {
    async load(signal) {
      const document = await source.load(signal);
      if (document !== current?.document) {
        const keys = await importKeys(document);
        current = { document, keys, generation: (current?.generation ?? 0) + 1 };
        if (keys.size === 0) source.onError(new Error("the key set holds no key that can verify access tokens"));
      }
      loadedAt = source.now();
    },
    keys: () => usable()?.keys,
    generation: () => usable()?.generation ?? 0,
  };
}

import type { TokenClaims } from "./read-claims.js";

/** A cache of verified tokens. The caller must still check the times in the claims. */
export interface VerifiedTokens {
  /**
   * Returns the claims of the token with this digest. `generation` is the result of `KeySet.generation()`. Returns
   * undefined if the token is unknown, or if the keys have changed since the token was verified.
   */
  get(digest: string, generation: number): TokenClaims | undefined;
  /** Adds the claims of a token. Removes the least recently used token if the cache is full. */
  put(digest: string, generation: number, claims: TokenClaims): void;
}

/**
 * Creates an LRU cache of at most `maxEntries` tokens by digest. A call with another `generation` empties the cache,
 * because the keys have changed.
 */
export function createVerifiedTokens(maxEntries: number): VerifiedTokens {
  const entries = new Map<string, TokenClaims>();
  let entriesGeneration = 0;

  function enter(generation: number): void {
    if (generation === entriesGeneration) return;
    entries.clear();
    entriesGeneration = generation;
  }

  return {
    get(digest, generation) {
      enter(generation);
      const claims = entries.get(digest);
      if (claims === undefined) return undefined;
      entries.delete(digest);
      entries.set(digest, claims);
      return claims;
    },
    put(digest, generation, claims) {
      enter(generation);
      entries.set(digest, claims);
      const [oldest] = entries.size > maxEntries ? entries.keys() : [];
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
}

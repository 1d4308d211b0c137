import type { TokenClaims } from "./read-claims.js";

/** Tokens that passed every check but the clock's. */
export interface VerifiedTokens {
  /** The claims of a token, unless it is unknown or was verified under another generation of keys. */
  get(digest: string, generation: number): TokenClaims | undefined;
  /** Remembers a token, in place of the one that was not used for longest where there are too many. */
  put(digest: string, generation: number, claims: TokenClaims): void;
}

/** An LRU of at most `maxEntries` tokens by digest, all of one generation of keys; a new generation empties it. */
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

import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";

/** The public keys that are currently accepted for signatures of access tokens. */
export interface KeySet {
  /**
   * Returns the key, or undefined if the set does not contain it. For an unknown key, the function may wait for a
   * refresh of the set. For a known key, it never waits. Rejects with SERVICE_UNAVAILABLE if no key set is available,
   * because then no token can be verified.
   */
  key(reference: KeyReference): Promise<CryptoKey | undefined>;
  /**
   * A number that changes whenever the keys change; 0 while no key set is available. After a change, tokens that were
   * verified before must be verified again.
   */
  generation(): number;
  /** Milliseconds since the last successful load; undefined before the first. Absent for a key set that never loads. */
  ageMs?(): number | undefined;
  /** Stops refreshing and aborts a running refresh. */
  close(): void;
}

/**
 * Identifies one key of a set. The algorithm is part of the identity: a key is used with one algorithm only (RFC 8725
 * section 3.1).
 */
export interface KeyReference {
  readonly kid: string;
  readonly alg: TokenAlgorithm;
}

/** The signature algorithms that access tokens may use, all asymmetric (RFC 7518 section 3.1). */
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

const tokenAlgorithms = ["ES256", "PS256", "RS256"] as const;

/** Whether a value of a token or a key set names an accepted algorithm. */
export function isTokenAlgorithm(value: unknown): value is TokenAlgorithm {
  return tokenAlgorithms.some((algorithm) => algorithm === value);
}

/** Returns a key set that never changes. */
export function fixedKeySet(keys: JSONWebKeySet): KeySet {
  const find = createLocalJWKSet(keys);
  return {
    key: (reference) => find({ ...reference }).catch(refuseAllButUnknown),
    generation: () => 1,
    close() {},
  };
}

function refuseAllButUnknown(error: unknown): undefined {
  if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
}

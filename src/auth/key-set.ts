import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";

/** The public keys that may have signed access tokens, as they are known at the moment. */
export interface KeySet {
  /**
   * The key of that name, or undefined where the set has none. May wait for a refresh of the set when the key is not
   * known, never when it is. Throws SERVICE_UNAVAILABLE where no set can be used at all, so that nothing can be judged.
   */
  key(reference: KeyReference): Promise<CryptoKey | undefined>;
  /**
   * A number that differs from an earlier one when keys may have come or gone in between; 0 while no set can be used.
   * What was concluded under one generation does not hold under another.
   */
  generation(): number;
  /** How old what is known is, in milliseconds; undefined while nothing was loaded, and absent where nothing ever is. */
  ageMs?(): number | undefined;
  /** Stops refreshing and aborts a refresh under way. */
  close(): void;
}

/** Names one key of a set. The algorithm belongs to the name: a key is never used with another one (RFC 8725, 3.1). */
export interface KeyReference {
  readonly kid: string;
  readonly alg: TokenAlgorithm;
}

/** The signature algorithms that access tokens may use, all asymmetric (RFC 7518 section 3.1). */
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

const tokenAlgorithms = ["ES256", "PS256", "RS256"] as const;

/** Whether a value from a token or a key set is the name of an accepted algorithm. */
export function isTokenAlgorithm(value: unknown): value is TokenAlgorithm {
  return tokenAlgorithms.some((algorithm) => algorithm === value);
}

/** A key set that never changes. */
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

import { createLocalJWKSet, type JSONWebKeySet, type JWK } from "jose";
import { isTokenAlgorithm, type KeyReference } from "./key-set.js";
import { isJsonObject, parseJsonObject } from "./parse-json-object.js";

/**
 * Returns the usable keys of a JSON Web Key Set document (RFC 7517): those that can verify access tokens. Returns an
 * empty set if no key is usable. Rejects if the document is not a key set.
 * - A usable key is public, has a `kid`, is for signatures, and is P-256 or RSA of at least 2048 bits.
 * - Other keys are ignored (RFC 7517 section 5), for example symmetric, private and malformed keys.
 * - A key is used only with its own `alg`. Without `alg`, P-256 means ES256 and RSA means RS256.
 * - Of several usable keys with the same `alg` and `kid`, the first is used.
 */
export async function usableKeys(document: string): Promise<JSONWebKeySet> {
  const { keys } = parseJsonObject(Buffer.from(document));
  if (!Array.isArray(keys)) throw new TypeError("a JSON Web Key Set needs an array of keys");
  const usable = new Map<string, JWK>();
  for (const jwk of keys.filter(isJsonObject)) {
    const { kid, alg = jwk["kty"] === "RSA" ? "RS256" : "ES256" } = jwk;
    if (typeof kid !== "string" || kid === "" || !isTokenAlgorithm(alg) || usable.has(`${alg} ${kid}`)) continue;
    const key = { ...jwk, kid, alg };
    if (await canVerify(key)) usable.set(`${alg} ${kid}`, key);
  }
  return { keys: [...usable.values()] };
}

const minRsaBits = 2048;

/**
 * Whether a key can verify signatures of its `alg`. jose checks type, curve, `use` and `key_ops`, and imports the key
 * as a public key. The size of RSA keys is checked here.
 */
async function canVerify(jwk: JWK & KeyReference): Promise<boolean> {
  try {
    const { algorithm } = await createLocalJWKSet({ keys: [jwk] })({ kid: jwk.kid, alg: jwk.alg });
    return !("modulusLength" in algorithm) || Number(algorithm.modulusLength) >= minRsaBits;
  } catch {
    return false;
  }
}

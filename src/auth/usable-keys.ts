import { createLocalJWKSet, type JSONWebKeySet, type JWK } from "jose";
import { isTokenAlgorithm, type KeyReference } from "./key-set.js";
import { isJsonObject, parseJsonObject } from "./parse-json-object.js";

/**
 * The keys of a JSON Web Key Set document (RFC 7517) that can verify access tokens: public, with a `kid`, meant for
 * signatures, P-256 or RSA of at least 2048 bits. Others are left out, as RFC 7517 section 5 asks: symmetric and private
 * keys, other curves, a `use` other than `sig`, malformed ones. A key works with its own `alg` only; without one, P-256
 * means ES256 and RSA means RS256, which is what issuers that leave it out sign with. Of two keys with one name the
 * first counts. Throws where the document is no key set; a set without a usable key is empty.
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

/** jose judges type, curve, `use` and `key_ops`, and imports the key as a public one. */
async function canVerify(jwk: JWK & KeyReference): Promise<boolean> {
  try {
    const { algorithm } = await createLocalJWKSet({ keys: [jwk] })({ kid: jwk.kid, alg: jwk.alg });
    return !("modulusLength" in algorithm) || Number(algorithm.modulusLength) >= minRsaBits;
  } catch {
    return false;
  }
}

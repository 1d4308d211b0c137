import { type CryptoKey, importJWK, type JWK } from "jose";
import { isTokenAlgorithm, type KeyReference, type TokenAlgorithm } from "./key-set.js";
import { isJsonObject, parseJsonObject } from "./parse-json-object.js";

/** Verification keys by {@link keyName}. */
export type ImportedKeys = ReadonlyMap<string, CryptoKey>;

/**
 * The keys of a JSON Web Key Set document (RFC 7517) that can verify access tokens: public, with a `kid`, meant for
 * signatures, P-256 or RSA of at least 2048 bits. Others are left out, as RFC 7517 section 5 asks: symmetric and private
 * keys, other curves, a `use` other than `sig`, malformed ones. A key works with its own `alg` only; without one, P-256
 * means ES256 and RSA means RS256, which is what issuers that leave it out sign with. Of two keys with one name the
 * first counts. Throws where the document is no key set; a set without a usable key is an empty map.
 */
export async function importKeys(document: string): Promise<ImportedKeys> {
  const { keys } = parseJsonObject(Buffer.from(document)) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new TypeError("a JSON Web Key Set needs an array of keys");
  const imported = new Map<string, CryptoKey>();
  for (const jwk of keys.filter(isJsonObject)) {
    const reference = referenceOf(jwk);
    if (reference === undefined || imported.has(keyName(reference))) continue;
    const key = await importKey(jwk, reference.alg);
    if (key !== undefined) imported.set(keyName(reference), key);
  }
  return imported;
}

/** The name under which {@link importKeys} files a key: algorithm and `kid` together, so that neither matches alone. */
export function keyName({ alg, kid }: KeyReference): string {
  return `${alg} ${kid}`;
}

/** What of a JSON Web Key is read, before it is checked. */
interface RawKey {
  readonly kid?: unknown;
  readonly kty?: unknown;
  readonly alg?: unknown;
  readonly use?: unknown;
  readonly key_ops?: unknown;
  readonly crv?: unknown;
  readonly d?: unknown;
}

function referenceOf(jwk: RawKey): KeyReference | undefined {
  const { kid, use, key_ops: operations, d } = jwk;
  if (typeof kid !== "string" || kid === "" || d !== undefined) return undefined;
  if (use !== undefined && use !== "sig") return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return undefined;
  const alg = algorithmOf(jwk);
  return alg && { kid, alg };
}

function algorithmOf({ kty, crv, alg }: RawKey): TokenAlgorithm | undefined {
  if (kty === "EC" && crv === "P-256") return alg === undefined || alg === "ES256" ? "ES256" : undefined;
  if (kty !== "RSA") return undefined;
  if (alg === undefined) return "RS256";
  return isTokenAlgorithm(alg) && alg !== "ES256" ? alg : undefined;
}

async function importKey(jwk: JWK, alg: TokenAlgorithm): Promise<CryptoKey | undefined> {
  const { kty = "", crv = "", x = "", y = "", n = "", e = "" } = jwk;
  try {
    const key = await importJWK(kty === "EC" ? { kty, crv, x, y } : { kty, n, e }, alg);
    return key instanceof Uint8Array || isShort(key) ? undefined : key;
  } catch {
    return undefined;
  }
}

const minRsaBits = 2048;

function isShort({ algorithm }: CryptoKey): boolean {
  return "modulusLength" in algorithm && Number(algorithm.modulusLength) < minRsaBits;
}

import { invalidToken } from "./invalid-token.js";
import { isTokenAlgorithm, type KeyReference } from "./key-set.js";
import { parseJsonObject } from "./parse-json-object.js";

/**
 * Checks a compact JWS before its signature is verified, and returns the reference to its key. `tokenTypes` contains
 * results of {@link normalizeTokenType}. Throws INVALID_ACCESS_TOKEN if one of these rules is broken:
 * - All three parts are canonical base64url, so that each token has only one spelling.
 * - The header is readable. It has an accepted `typ`, an accepted `alg` and a `kid`. It has no `crit`.
 *
 * Key material in the header (`jwk`, `x5c`, `jku`) is never used (RFC 8725 section 3.10).
 */
export function readTokenHeader(token: string, tokenTypes: ReadonlySet<string>): KeyReference {
  const { alg, kid, typ, crit } = parseHeader(token);
  if (crit !== undefined) throw invalidToken("MALFORMED");
  if (typeof typ !== "string" || !tokenTypes.has(normalizeTokenType(typ))) throw invalidToken("TYPE");
  if (!isTokenAlgorithm(alg)) throw invalidToken("ALGORITHM");
  if (typeof kid !== "string" || kid === "") throw invalidToken("MALFORMED");
  return { alg, kid };
}

/** Returns a `typ` value in lower case, without the optional prefix `application/` (RFC 7515 section 4.1.9). */
export function normalizeTokenType(type: string): string {
  return type.toLowerCase().replace(/^application\//, "");
}

interface RawHeader {
  readonly alg?: unknown;
  readonly kid?: unknown;
  readonly typ?: unknown;
  readonly crit?: unknown;
}

const NO_BYTES = Buffer.alloc(0);

function parseHeader(token: string): RawHeader {
  const [header = NO_BYTES] = token.split(".").map(decodeCanonical);
  try {
    return parseJsonObject(header);
  } catch {
    throw invalidToken("MALFORMED");
  }
}

function decodeCanonical(part: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.toString("base64url") !== part) throw invalidToken("MALFORMED");
  return bytes;
}

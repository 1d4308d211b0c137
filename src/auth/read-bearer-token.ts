import { invalidToken, missingToken } from "./invalid-token.js";

/**
 * The token in an Authorization header: `Bearer` in any case, one or more spaces and three base64url parts joined by
 * dots (RFC 6750 section 2.1, RFC 7515 section 7.1), with nothing after them: no padding, no line break, no second
 * value. At most 8 KiB, for hashing and parsing come before the signature is checked. Throws INVALID_ACCESS_TOKEN.
 */
export function readBearerToken(authorization: string | null): string {
  if (authorization === null || !scheme.test(authorization)) throw missingToken();
  const token = compactJws.exec(authorization.slice("bearer".length))?.[1];
  if (token === undefined || token.length > maxTokenBytes) throw invalidToken("MALFORMED");
  return token;
}

const maxTokenBytes = 8192;
const scheme = /^bearer(?![^ ])/i;
const compactJws = /^ +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/;

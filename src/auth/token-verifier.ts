import { hash } from "node:crypto";
import { type CryptoKey, compactVerify } from "jose";
import type { Principal } from "../call.js";
import { invalidToken, missingToken } from "./invalid-token.js";
import type { KeySet } from "./key-set.js";
import { type ClaimNames, type ClaimRules, readClaims, type TokenClaims } from "./read-claims.js";
import { normalizeTokenType, readTokenHeader } from "./read-token-header.js";
import { createVerifiedTokens } from "./verified-tokens.js";

/** Which access tokens are accepted. */
export interface TokenVerifierOptions extends ClaimRules {
  /** The accepted values of `typ`; {@link defaultTokenTypes} unless the issuer says otherwise. */
  readonly tokenTypes: readonly string[];
  readonly keySet: KeySet;
  /** Milliseconds of wall-clock time. */
  now(): number;
}

/**
 * The principal behind the value of an Authorization header (`null` without one). Rejects with INVALID_ACCESS_TOKEN and a
 * WWW-Authenticate header (RFC 6750 section 3), or with SERVICE_UNAVAILABLE while there are no keys to judge by.
 */
export type TokenVerifier = (authorizationHeader: string | null) => Promise<Principal>;

/** RFC 9068 section 2.1; `application/at+jwt` is the same. */
export const defaultTokenTypes: readonly string[] = ["at+jwt"];

/** RFC 9068 section 2.2, and the tenant that this service asks for. */
export const defaultClaimNames: ClaimNames = { client: "client_id", tenant: "tenant_id", scope: "scope" };

const maxRememberedTokens = 10_000;

/**
 * Verifies access tokens (RFC 9068) by the rules of RFC 8725. A signature costs about 130 µs, so tokens that passed are
 * remembered by their SHA-256, never by their text, and only their times are checked again; simultaneous first uses of
 * one token share the work. The price: a token of a key that its issuer withdraws keeps working until the key set is
 * loaded again, as it would without the memory, for the key itself is remembered that long.
 *
 * Throws an Error for options that cannot work: an issuer that is empty or holds white space, which would make
 * `Principal.id` ambiguous, or a claim name that may not stand in WWW-Authenticate.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  requireSoundOptions(options);
  const { keySet, now } = options;
  const verifyToken = tokenCheck(options);
  const remembered = createVerifiedTokens(maxRememberedTokens);
  const pending = new Map<string, Promise<TokenClaims>>();

  async function verifyAndRemember(token: string, digest: string): Promise<TokenClaims> {
    const generation = keySet.generation();
    try {
      const claims = await verifyToken(token);
      requireTime(claims, now());
      if (generation === keySet.generation()) remembered.put(digest, generation, claims);
      return claims;
    } finally {
      pending.delete(digest);
    }
  }

  function verifyOnce(token: string, digest: string): Promise<TokenClaims> {
    const running = pending.get(digest) ?? verifyAndRemember(token, digest);
    pending.set(digest, running);
    return running;
  }

  return async (authorizationHeader) => {
    const token = readBearerToken(authorizationHeader);
    const digest = hash("sha256", token, "base64");
    const claims = remembered.get(digest, keySet.generation()) ?? (await verifyOnce(token, digest));
    requireTime(claims, now());
    return claims.principal;
  };
}

const maxTokenBytes = 8192;
const scheme = /^bearer(?![^ ])/i;
const compactJws = /^ +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/;

/**
 * The token in an Authorization header: `Bearer` in any case, one or more spaces and three base64url parts joined by
 * dots (RFC 6750 section 2.1, RFC 7515 section 7.1), with nothing after them: no padding, no line break, no second
 * value. At most 8 KiB, for hashing and parsing come before the signature is checked.
 */
function readBearerToken(authorization: string | null): string {
  if (authorization === null || !scheme.test(authorization)) throw missingToken();
  const token = compactJws.exec(authorization.slice("bearer".length))?.[1];
  if (token === undefined || token.length > maxTokenBytes) throw invalidToken("MALFORMED");
  return token;
}

const claimName = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function requireSoundOptions({ issuer, claims }: TokenVerifierOptions): void {
  if (!/^\S+$/.test(issuer)) throw new Error("the issuer of access tokens must be a URI without white space");
  const unfit = Object.values(claims).find((name) => !claimName.test(name));
  if (unfit !== undefined) throw new Error(`${JSON.stringify(unfit)} cannot be the name of a claim`);
}

function tokenCheck(options: TokenVerifierOptions): (token: string) => Promise<TokenClaims> {
  const tokenTypes = new Set(options.tokenTypes.map(normalizeTokenType));
  return async (token) => {
    const reference = readTokenHeader(token, tokenTypes);
    const key = await options.keySet.key(reference);
    if (key === undefined) throw invalidToken("UNKNOWN_KEY");
    return readClaims(await signedPayload(token, key, reference.alg), options);
  };
}

async function signedPayload(token: string, key: CryptoKey, algorithm: string): Promise<Uint8Array> {
  try {
    return (await compactVerify(token, key, { algorithms: [algorithm] })).payload;
  } catch (cause) {
    throw invalidToken("SIGNATURE", cause);
  }
}

function requireTime({ fromMs, untilMs }: TokenClaims, nowMs: number): void {
  if (nowMs < fromMs) throw invalidToken("NOT_YET_VALID");
  if (nowMs >= untilMs) throw invalidToken("EXPIRED");
}

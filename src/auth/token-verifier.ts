import { hash } from "node:crypto";
import { type CryptoKey, compactVerify } from "jose";
import type { Principal } from "../call.js";
import type { TokenFault } from "../token-faults.js";
import { invalidToken, missingToken, RefusedToken } from "./invalid-token.js";
import type { KeySet } from "./key-set.js";
import { type ClaimNames, type ClaimRules, readClaims, type TokenClaims } from "./read-claims.js";
import { normalizeTokenType, readTokenHeader } from "./read-token-header.js";
import { createVerifiedTokens } from "./verified-tokens.js";

/** The conditions under which access tokens are accepted. */
export interface TokenVerifierOptions extends ClaimRules {
  /** The accepted values of `typ`; usually {@link defaultTokenTypes}. */
  readonly tokenTypes: readonly string[];
  readonly keySet: KeySet;
  /** Returns the wall-clock time in milliseconds since the epoch. */
  now(): number;
  /** Called each time a token is rejected or missing, also if the token of an open stream becomes invalid. */
  readonly onRefused?: ((fault: TokenFault) => void) | undefined;
}

/**
 * Returns the principal of an Authorization header; `null` means no header. Rejects with INVALID_ACCESS_TOKEN and a
 * WWW-Authenticate header (RFC 6750 section 3), or with SERVICE_UNAVAILABLE while no key set is available.
 */
export type TokenVerifier = (authorizationHeader: string | null) => Promise<Principal>;

/** The `typ` of RFC 9068 section 2.1; `application/at+jwt` means the same. */
export const defaultTokenTypes: readonly string[] = ["at+jwt"];

/** The claim names of RFC 9068 section 2.2, and Cupo's own claim for the tenant. */
export const defaultClaimNames: ClaimNames = { client: "client_id", tenant: "tenant_id", scope: "scope" };

const maxRememberedTokens = 10_000;

/**
 * Creates a verifier of access tokens (RFC 9068) by the rules of RFC 8725.
 * - It caches verified tokens, because verifying a signature takes about 130 µs. The key of the cache is the SHA-256 of
 *   the token, never its text. For a cached token, only the times are checked.
 * - Simultaneous first uses of one token share one verification.
 * - After an issuer withdraws a key, tokens signed with the key are accepted until the key set is loaded again.
 *
 * Throws an Error for an issuer that is empty or contains white space. White space would make `Principal.id` ambiguous.
 * Also throws for a claim name that is not allowed in WWW-Authenticate.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  requireValidOptions(options);
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

  async function verify(authorizationHeader: string | null): Promise<Principal> {
    const token = readBearerToken(authorizationHeader);
    const digest = hash("sha256", token, "base64");
    const claims = remembered.get(digest, keySet.generation()) ?? (await verifyOnce(token, digest));
    requireTime(claims, now());
    return claims.principal;
  }

  return async (authorizationHeader) => {
    try {
      return await verify(authorizationHeader);
    } catch (error) {
      if (error instanceof RefusedToken) options.onRefused?.(error.fault);
      throw error;
    }
  };
}

const maxTokenBytes = 8192;
const scheme = /^bearer(?![^ ])/i;
const compactJws = /^ +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/;

/**
 * Returns the token of an Authorization header (RFC 6750 section 2.1). The header is `Bearer` in upper or lower case,
 * one or more spaces, and three base64url parts joined by dots (RFC 7515 section 7.1). Padding, a line break or a
 * second value after the token is rejected. A token of more than 8 KiB is rejected too, because it is hashed and parsed
 * before its signature is checked.
 */
function readBearerToken(authorization: string | null): string {
  if (authorization === null || !scheme.test(authorization)) throw missingToken();
  const token = compactJws.exec(authorization.slice("bearer".length))?.[1];
  if (token === undefined || token.length > maxTokenBytes) throw invalidToken("MALFORMED");
  return token;
}

const claimName = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function requireValidOptions({ issuer, claims }: TokenVerifierOptions): void {
  if (!/^\S+$/.test(issuer)) throw new Error("the issuer of access tokens must not be empty or contain white space");
  const unfit = Object.values(claims).find((name) => !claimName.test(name));
  if (unfit !== undefined) throw new Error(`${JSON.stringify(unfit)} is not a valid claim name`);
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
  } catch {
    throw invalidToken("SIGNATURE");
  }
}

function requireTime({ fromMs, untilMs }: TokenClaims, nowMs: number): void {
  if (nowMs < fromMs) throw invalidToken("NOT_YET_VALID");
  if (nowMs >= untilMs) throw invalidToken("EXPIRED");
}

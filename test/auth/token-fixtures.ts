import { constants, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { fixedKeySet, type TokenAlgorithm } from "../../src/auth/key-set.js";
import {
  createTokenVerifier,
  defaultClaimNames,
  defaultTokenTypes,
  type TokenVerifierOptions,
} from "../../src/auth/token-verifier.js";
import { usableKeys } from "../../src/auth/usable-keys.js";
import { CupoError } from "../../src/errors.js";

/** The start time of all tests, in milliseconds since the epoch, and in seconds as in claims. */
export const startMs = Date.UTC(2026, 10, 20, 12);
export const startSeconds = startMs / 1000;

export const issuer = "https://id.example.org";
export const audience = "https://api.example.org";
export const tenantId = "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11";

/** A key pair, its name in a key set, and its entry there. */
export interface TestKey {
  readonly alg: TokenAlgorithm;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: Record<string, unknown>;
}

/** Creates a key pair for an algorithm. RSA keys have 2048 bits by default. */
export function makeKey(alg: TokenAlgorithm, kid: string, modulusLength = 2048): TestKey {
  const { publicKey, privateKey } =
    alg === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength });
  return { alg, kid, privateKey, publicJwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" } };
}

/** Returns a JSON Web Key Set document with these entries. */
export function keySetDocument(...keys: readonly object[]): string {
  return JSON.stringify({ keys });
}

/** Returns the claims of a token that is valid with all defaults at {@link startMs}. */
export function goodClaims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    iss: issuer,
    aud: audience,
    sub: "booking-bot",
    client_id: "booking-bot",
    jti: "3f6e",
    iat: startSeconds,
    exp: startSeconds + 300,
    tenant_id: tenantId,
    scope: "patients:write waitlist:write",
    ...changes,
  };
}

/** Signs a token with changes to its header and claims. Undefined removes a member. */
export function signToken(key: TestKey, claims = goodClaims(), header: Record<string, unknown> = {}): string {
  const fullHeader = { typ: "at+jwt", alg: key.alg, kid: key.kid, ...header };
  return signParts(key, encode(JSON.stringify(fullHeader)), encode(JSON.stringify(claims)));
}

/** Adds a valid signature to a header and a payload, which may be any text. */
export function signParts(key: TestKey, header: string, payload: string): string {
  const padding = key.alg === "PS256" ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const options = key.alg === "ES256" ? { dsaEncoding: "ieee-p1363" as const } : { padding, saltLength: 32 };
  const signature = sign("sha256", Buffer.from(`${header}.${payload}`), { key: key.privateKey, ...options });
  return `${header}.${payload}.${encode(signature)}`;
}

/** Encodes data as base64url without padding. */
export function encode(data: string | Buffer): string {
  return Buffer.from(data).toString("base64url");
}

/** Creates a verifier with the defaults, these keys, and a clock that is stopped at {@link startMs}. */
export async function verifierFor(keys: readonly TestKey[], changes: Partial<TokenVerifierOptions> = {}) {
  const document = keySetDocument(...keys.map((key) => key.publicJwk));
  return createTokenVerifier({ ...defaults(), keySet: fixedKeySet(await usableKeys(document)), ...changes });
}

/** Returns the options of a verifier, without its keys. */
export function defaults(): Omit<TokenVerifierOptions, "keySet"> {
  return { issuer, audience, tokenTypes: defaultTokenTypes, claims: defaultClaimNames, now: () => startMs };
}

/** Returns the CupoError that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<CupoError> {
  const error = await promise.then(
    () => new Error("accepted"),
    (reason: unknown) => reason,
  );
  if (error instanceof CupoError) return error;
  throw error;
}

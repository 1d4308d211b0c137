import type { Principal } from "../call.js";
import { isUuid } from "../uuid.js";
import { invalidClaim, invalidToken } from "./invalid-token.js";
import { parseJsonObject } from "./parse-json-object.js";

/** The issuer and audience that access tokens must name, and the claim names that can differ between issuers. */
export interface ClaimRules {
  readonly issuer: string;
  readonly audience: string;
  readonly claims: ClaimNames;
}

/** The claim names that can differ between issuers. */
export interface ClaimNames {
  readonly client: string;
  readonly tenant: string;
  readonly scope: string;
}

/** The verified content of an access token. */
export interface TokenClaims {
  readonly principal: Principal;
  /**
   * Start of the validity in milliseconds since the epoch, inclusive: 5 s before the later of the claims `iat` and
   * `nbf`, because the issuer's clock may be ahead.
   */
  readonly fromMs: number;
  /** End of the validity in milliseconds since the epoch, exclusive: the claim `exp`. */
  readonly untilMs: number;
}

const clockToleranceMs = 5000;

/**
 * Reads these claims of a signed access token (RFC 9068 section 2.2):
 * - required: `iss` (equal to `issuer`), `aud` (contains `audience`), `exp`, `iat`, `sub`, `jti`, the client, the
 *   tenant (a UUID) and the scopes
 * - optional: `nbf`, `organization_id` (a UUID) and `company_id` (a UUID)
 *
 * Throws INVALID_ACCESS_TOKEN if a required claim is missing, or if any of these claims is invalid or `null`. Does not
 * compare times with the clock: the caller must do so with `fromMs` and `untilMs`.
 */
export function readClaims(payload: Uint8Array, { issuer, audience, claims: names }: ClaimRules): TokenClaims {
  const claims = parsePayload(payload);
  if (claims["iss"] !== issuer) throw invalidToken("ISSUER");
  if (!audiencesOf(claims).includes(audience)) throw invalidToken("AUDIENCE");
  requireString(claims, "sub");
  requireString(claims, "jti");
  const clientId = clientIdOf(claims, names.client);
  return {
    principal: {
      id: `${issuer} ${clientId}`,
      issuer,
      clientId,
      tenantId: uuidOf(claims, names.tenant),
      organizationId: optionalUuidOf(claims, "organization_id"),
      companyId: optionalUuidOf(claims, "company_id"),
      scopes: scopesOf(claims, names.scope),
    },
    fromMs: Math.max(timeOf(claims, "iat"), optionalTimeOf(claims, "nbf") ?? 0) - clockToleranceMs,
    untilMs: timeOf(claims, "exp"),
  };
}

type Claims = Record<string, unknown>;

function parsePayload(payload: Uint8Array): Claims {
  try {
    return parseJsonObject(payload);
  } catch {
    throw invalidToken("MALFORMED");
  }
}

function audiencesOf(claims: Claims): readonly unknown[] {
  const audience = claims["aud"];
  const audiences: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (audiences.some((value) => typeof value !== "string")) throw invalidClaim("aud");
  return audiences;
}

function requireString(claims: Claims, name: string): string {
  const value = claims[name];
  if (typeof value !== "string" || value === "") throw invalidClaim(name);
  return value;
}

const visibleAscii = /^[\x20-\x7e]{1,255}$/;

/**
 * Returns the client id: 1 to 255 printable ASCII characters (RFC 6749 appendix A.1). Other characters must not reach
 * the database or a log.
 */
function clientIdOf(claims: Claims, name: string): string {
  const value = requireString(claims, name);
  if (!visibleAscii.test(value)) throw invalidClaim(name);
  return value;
}

function uuidOf(claims: Claims, name: string): string {
  const value = requireString(claims, name);
  if (!isUuid(value)) throw invalidClaim(name);
  return value.toLowerCase();
}

function optionalUuidOf(claims: Claims, name: string): string | undefined {
  return claims[name] === undefined ? undefined : uuidOf(claims, name);
}

/**
 * Returns the scopes of a token. The claim `scope` is a string of scope tokens, separated by single spaces (RFC 8693
 * section 4.2, RFC 6749 section 3.3). A claim with another name, such as `scp`, may also be an array of scope tokens.
 *
 * An empty string means no scopes, and so does an empty array where an array is allowed. Such a token is not rejected
 * here: the later 403 "insufficient scope" explains the problem better than "invalid token". Throws
 * INVALID_ACCESS_TOKEN if the claim is absent or has another form.
 */
function scopesOf(claims: Claims, name: string): ReadonlySet<string> {
  const tokens = scopeTokensOf(claims[name], name);
  if (!Array.isArray(tokens) || !tokens.every(isScopeToken)) throw invalidClaim(name);
  return new Set(tokens);
}

function scopeTokensOf(claim: unknown, name: string): unknown {
  if (typeof claim === "string") return claim === "" ? [] : claim.split(" ");
  return name === "scope" ? undefined : claim;
}

const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function isScopeToken(token: unknown): token is string {
  return typeof token === "string" && scopeToken.test(token);
}

function timeOf(claims: Claims, name: string): number {
  const seconds = claims[name];
  if (typeof seconds !== "number" || seconds < 0 || seconds > maxTimeSeconds) throw invalidClaim(name);
  return seconds * 1000;
}

const maxTimeSeconds = 253_402_300_799;

function optionalTimeOf(claims: Claims, name: string): number | undefined {
  return claims[name] === undefined ? undefined : timeOf(claims, name);
}

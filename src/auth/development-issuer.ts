import { randomUUID } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { openDevelopmentKey } from "./development-key.js";
import { fixedKeySet, type KeySet } from "./key-set.js";

/** An issuer for machines of developers. Whoever can read its data folder can be any tenant's client. */
export interface DevelopmentIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly keySet: KeySet;
  /** A signed access token as RFC 9068 describes it, in the compact serialization. */
  sign(request: DevelopmentTokenRequest): Promise<string>;
}

/** What a development token says. The client is also its subject, as in the client credentials grant. */
export interface DevelopmentTokenRequest {
  readonly tenantId: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly organizationId?: string;
  readonly companyId?: string;
  readonly expiresInSeconds: number;
}

/** `iss` of the development issuer's tokens. */
export const developmentIssuer = "urn:cupo:development-issuer";

/** `aud` of the development issuer's tokens. */
export const developmentAudience = "urn:cupo:api";

/**
 * Opens the development issuer of a data folder. Its key pair is made on the first start and kept, so that tokens
 * survive restarts and a token made by another process is accepted. `now` is wall-clock time in milliseconds.
 */
export async function openDevelopmentIssuer(options: {
  readonly dataDir: string;
  now(): number;
}): Promise<DevelopmentIssuer> {
  const { kid, publicJwk, privateKey } = await openDevelopmentKey(options.dataDir);
  return {
    issuer: developmentIssuer,
    audience: developmentAudience,
    keySet: fixedKeySet({ keys: [publicJwk] }),
    sign: (request) =>
      new SignJWT(claimsOf(request, Math.floor(options.now() / 1000)))
        .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
        .sign(privateKey),
  };
}

function claimsOf(request: DevelopmentTokenRequest, issuedAt: number): JWTPayload {
  return {
    iss: developmentIssuer,
    aud: developmentAudience,
    sub: request.client,
    client_id: request.client,
    jti: randomUUID(),
    iat: issuedAt,
    exp: issuedAt + request.expiresInSeconds,
    tenant_id: request.tenantId,
    scope: request.scopes.join(" "),
    organization_id: request.organizationId,
    company_id: request.companyId,
  };
}

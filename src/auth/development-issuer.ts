import { randomUUID } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { openDevelopmentKey } from "./development-key.js";
import { fixedKeySet, type KeySet } from "./key-set.js";

/** An issuer for developers' machines. Anyone who can read its data folder can sign a token for any tenant. */
export interface DevelopmentIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly keySet: KeySet;
  /** Returns a signed access token (RFC 9068) in the compact serialization. */
  sign(request: DevelopmentTokenRequest): Promise<string>;
}

/** The claims of a development token. The client is also the subject, as in the client credentials grant. */
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
const developmentAudience = "urn:cupo:api";

/**
 * Opens the development issuer of a data folder. The first start creates its key pair in the folder. So tokens stay
 * valid after a restart, and every process with this folder accepts them. `now` returns milliseconds since the epoch.
 * Rejects if the key file cannot be read or is not a key, see {@link openDevelopmentKey}.
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

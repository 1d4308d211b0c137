import { openDevelopmentIssuer } from "../auth/development-issuer.js";
import { DEMO_TENANT_ID } from "../demo/large-clinic.js";
import { scopesOf } from "../scopes.js";
import { servedServices } from "../services/services.js";
import { readConfig } from "../settings/config.js";

export const TOKEN_LIFETIME_SECONDS = 3_600;

/** The options of a token. `scope` is a list separated by spaces; without it the token has every scope. */
export interface TokenFlags {
  readonly tenant: string;
  readonly scope?: string;
  readonly client: string;
  readonly organization?: string;
  readonly company?: string;
  /** Lifetime in seconds. */
  readonly expires: number;
}

/** Returns a token of the development issuer. Throws if a real issuer is configured. */
export async function signToken({
  tenant,
  scope,
  client,
  organization,
  company,
  expires,
}: TokenFlags): Promise<string> {
  const { dataDir, issuer: configured } = readConfig(process.env);
  if (configured !== undefined)
    throw new Error("AUTH_ISSUER is set: get access tokens from that issuer; the development issuer is not in use");
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  return issuer.sign({
    tenantId: tenant,
    client,
    scopes: scope?.split(" ") ?? scopesOf(servedServices),
    expiresInSeconds: expires,
    ...(organization === undefined ? {} : { organizationId: organization }),
    ...(company === undefined ? {} : { companyId: company }),
  });
}

/** With `isSigned`, returns a token of the demo tenant. Otherwise returns a shell command that prints such a token. */
export function shownToken(isSigned: boolean): Promise<string> {
  if (!isSigned) return Promise.resolve("$(npm run --silent token)");
  return signToken({ tenant: DEMO_TENANT_ID, client: "demo", expires: TOKEN_LIFETIME_SECONDS });
}

/** Returns a token of the demo tenant for the reference pages. The token expires after `expires` seconds. */
export function signPageToken(expires: number): Promise<string> {
  return signToken({ tenant: DEMO_TENANT_ID, client: "reference-page", expires });
}

import type { DevelopmentIssuer } from "../../src/auth/development-issuer.js";

/** Claims of a token. The defaults are the service's own tenant and every scope. */
export interface TokenFor {
  readonly tenantId?: string;
  readonly scopes?: readonly string[];
  readonly client?: string;
  readonly organizationId?: string;
  readonly companyId?: string;
  readonly expiresInSeconds?: number;
}

/** How long tokens are reused, in milliseconds. */
const USE_MS = 300_000;

/**
 * Returns a function that signs tokens valid for one hour. Equal claims get the same token again for up to five
 * minutes.
 */
export function tokensOf(
  issuer: DevelopmentIssuer,
  usual: Required<Pick<TokenFor, "tenantId" | "scopes">>,
  now: () => number,
): (claims?: TokenFor) => Promise<string> {
  const signed = new Map<string, Promise<string>>();
  return (claims = {}) => {
    const key = JSON.stringify([Math.floor(now() / USE_MS), claims]);
    const token = signed.get(key) ?? issuer.sign({ client: "test", expiresInSeconds: 3_600, ...usual, ...claims });
    signed.set(key, token);
    return token;
  };
}

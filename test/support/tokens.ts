import type { DevelopmentIssuer } from "../../src/auth/development-issuer.js";

/** Whom a token is for; everything has a default: the service's own tenant, every scope. */
export interface TokenFor {
  readonly tenantId?: string;
  readonly scopes?: readonly string[];
  readonly client?: string;
  readonly organizationId?: string;
  readonly companyId?: string;
  readonly expiresInSeconds?: number;
}

/** So long a client uses a token before it gets another one. */
const USE_MS = 300_000;

/** Gives tokens of an issuer for an hour, the same one again to who asks for the same within five minutes. */
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

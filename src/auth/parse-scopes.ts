/**
 * The scopes in a claim, or undefined where it is malformed. The standard `scope` is a string of scope tokens with one
 * space between them (RFC 8693 section 4.2, RFC 6749 section 3.3). A claim of another name, such as `scp`, may also be an
 * array of scope tokens, as several issuers write it. The empty string and the empty array mean no scopes: issuers send
 * them for clients without any, and "insufficient scope" tells those more than "invalid token".
 */
export function parseScopes(claim: unknown, claimName: string): ReadonlySet<string> | undefined {
  if (typeof claim === "string") return scopeSet(claim === "" ? [] : claim.split(" "));
  if (Array.isArray(claim) && claimName !== "scope") return scopeSet(claim);
  return undefined;
}

const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function scopeSet(tokens: readonly unknown[]): ReadonlySet<string> | undefined {
  const isScopeToken = (token: unknown): token is string => typeof token === "string" && scopeToken.test(token);
  return tokens.every(isScopeToken) ? new Set(tokens) : undefined;
}

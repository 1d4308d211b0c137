/**
 * Patterns that recognize a credential by its format alone, without a word such as `clave` near it. A pattern ignores
 * case unless the issuer's format is case-sensitive.
 */
const formats: readonly RegExp[] = [
  // A signed or encrypted JSON Web Token (RFC 7515 and RFC 7516): a header that starts with `{"`, then a payload.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}/,
  // The first line of a key, a certificate or a message in textual encoding (RFC 7468).
  /\p{Pd}{2,8}\s?BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE|KEY BLOCK|REQUEST|MESSAGE)\s?\p{Pd}{2,8}/iu,
  // Amazon Web Services
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
  // GitHub, GitLab
  /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|glpat-[A-Za-z0-9_-]{16})/,
  // Google: API key, OAuth client secret, OAuth access token
  /(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{30}|GOCSPX-[A-Za-z0-9_-]{20}|ya29\.[A-Za-z0-9_-]{20})/,
  // Slack
  /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10}|xapp-[0-9]-[A-Za-z0-9-]{10})/,
  // Stripe and others that write `sk_live_…`; OpenAI and others that write `sk-…`
  /(?<![A-Za-z0-9])(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16}|sk-(?:[a-z]{2,6}-)?[A-Za-z0-9_-]{32})/,
  // npm, SendGrid, Hugging Face
  /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{36}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16}|hf_[A-Za-z0-9]{30})/,
  // Azure storage
  /AccountKey=[A-Za-z0-9+/]{40}/i,
  // A bearer token (RFC 6750) or basic credentials (RFC 7617) as in an Authorization header
  /(?<![a-z0-9])bearer\s(?=[a-z._~+/-]{0,200}[0-9])[a-z0-9._~+/-]{16}/i,
  /(?<![a-z0-9])authorization\s?:\s?(?:basic|bearer)\s[a-z0-9._~+/=-]{8}/i,
  // A URI with a password in it (RFC 3986 section 3.2.1)
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{0,100}:[^\s@/]{1,100}@/i,
];

/**
 * Whether a plain text contains a credential of a known format, for example a JWT, a PEM block or a key of a cloud
 * service.
 */
export function containsKeyFormat(plain: string): boolean {
  return formats.some((format) => format.test(plain));
}

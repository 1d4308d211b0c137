/**
 * Patterns that recognize a credential by its format alone, without a word such as `clave` near it. A pattern ignores
 * case unless the issuer's format is case-sensitive.
 */
const formats: readonly RegExp[] = [
  // A JSON Web Token (RFC 7515 and RFC 7516): `eyJ` is the start of its header, `{"`, in base64url.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}/,
  // The first line of a key, certificate or request (RFC 7468), or of an OpenPGP message: `BEGIN PRIVATE KEY`.
  /\p{Pd}{2,8}\s?BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE|KEY BLOCK|REQUEST|MESSAGE)\s?\p{Pd}{2,8}/iu,
  // The identifier of a credential of Amazon Web Services
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
  // Access tokens of GitHub and GitLab
  /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|glpat-[A-Za-z0-9_-]{16})/,
  // Google: API key, OAuth client secret, OAuth access token
  /(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{30}|GOCSPX-[A-Za-z0-9_-]{20}|ya29\.[A-Za-z0-9_-]{20})/,
  // Tokens of Slack
  /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10}|xapp-[0-9]-[A-Za-z0-9-]{10})/,
  // Secret keys such as `sk_live_…` (Stripe and others) and `sk-…` (OpenAI and others)
  /(?<![A-Za-z0-9])(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16}|sk-(?:[a-z]{2,6}-)?[A-Za-z0-9_-]{32})/,
  // Access tokens of npm, SendGrid and Hugging Face
  /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{36}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16}|hf_[A-Za-z0-9]{30})/,
  // The account key in a connection string of Azure Storage
  /AccountKey=[A-Za-z0-9+/]{40}/i,
  // A bearer token (RFC 6750) or basic credentials (RFC 7617) as in an Authorization header
  /(?<![a-z0-9])bearer\s(?=[a-z._~+/-]{0,200}[0-9])[a-z0-9._~+/-]{16}/i,
  /(?<![a-z0-9])authorization\s?:\s?(?:basic|bearer)\s[a-z0-9._~+/=-]{8}/i,
  // A URI that contains a user name and a password (RFC 3986 section 3.2.1)
  /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{0,100}:[^\s@/]{1,100}@/i,
];

/**
 * Returns whether a plain text contains a credential of a known format, such as a JSON Web Token, a key in textual
 * encoding (`BEGIN PRIVATE KEY`) or an access key of a cloud service.
 */
export function containsKeyFormat(plain: string): boolean {
  return formats.some((format) => format.test(plain));
}

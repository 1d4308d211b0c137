import { CupoError } from "../errors.js";
import type { TokenFault } from "../token-faults.js";

/**
 * The fixed sentence in the response for each fault of a token except CLAIM and MISSING. It contains no part of the
 * token.
 */
const sentences = {
  MALFORMED: "The access token is malformed",
  TYPE: "The token is not an access token of an accepted type",
  ALGORITHM: "The access token is signed with an algorithm that is not accepted",
  UNKNOWN_KEY: "The access token names a signing key that is not known",
  SIGNATURE: "The signature of the access token is invalid",
  ISSUER: "The access token comes from another issuer",
  AUDIENCE: "The access token is meant for another audience",
  EXPIRED: "The access token has expired",
  NOT_YET_VALID: "The access token is not valid yet",
} as const satisfies Readonly<Partial<Record<TokenFault, string>>>;

type SentenceFault = keyof typeof sentences;

/**
 * The error 401 for a missing or rejected token. `cause` stays undefined, because an invalid token is not a failure of
 * the service.
 */
export class RefusedToken extends CupoError {
  constructor(
    readonly fault: TokenFault,
    init: { readonly detail: string; readonly headers: Readonly<Record<string, string>> },
  ) {
    super("INVALID_ACCESS_TOKEN", init);
  }
}

/** Returns a 401 with `error="invalid_token"` (RFC 6750 section 3.1). */
export function invalidToken(fault: SentenceFault): RefusedToken {
  return refused(fault, sentences[fault]);
}

/**
 * Returns a 401 for a signed token with a missing or malformed claim. The name `claim` must not contain quotes or
 * backslashes, because RFC 6750 allows neither in `error_description`.
 */
export function invalidClaim(claim: string): RefusedToken {
  return refused("CLAIM", `The claim ${claim} of the access token is missing or malformed`);
}

/**
 * Returns a 401 for a request without bearer credentials, or with credentials of another scheme. The 401 has no error
 * code, because RFC 6750 section 3.1 omits the code if the client presented no token.
 */
export function missingToken(): RefusedToken {
  return new RefusedToken("MISSING", {
    detail: "The request needs an Authorization header with a bearer access token.",
    headers: { "WWW-Authenticate": 'Bearer realm="cupo"' },
  });
}

function refused(fault: TokenFault, sentence: string): RefusedToken {
  return new RefusedToken(fault, {
    detail: `${sentence}.`,
    headers: { "WWW-Authenticate": `Bearer realm="cupo", error="invalid_token", error_description="${sentence}"` },
  });
}

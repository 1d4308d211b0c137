import { CupoError } from "../errors.js";

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
} as const;

/** Why a token is refused; each fault has one fixed sentence, so that no answer can echo a part of the token. */
export type TokenFault = keyof typeof sentences;

/** 401 with `error="invalid_token"` (RFC 6750 section 3.1). `cause` is for the log and must not hold the token. */
export function invalidToken(fault: TokenFault, cause?: unknown): CupoError {
  return refused(sentences[fault], cause);
}

/**
 * 401 for a signed token in which a claim is missing or malformed. `claim` is a name from the configuration, free of
 * quotes and backslashes: RFC 6750 allows neither in `error_description`.
 */
export function invalidClaim(claim: string): CupoError {
  return refused(`The claim ${claim} of the access token is missing or malformed`);
}

/**
 * 401 for a request without bearer credentials, those of another scheme included. It names the scheme only: RFC 6750
 * section 3.1 asks for no error code where the client did not try to present a token.
 */
export function missingToken(): CupoError {
  return new CupoError("INVALID_ACCESS_TOKEN", {
    detail: "The request needs an Authorization header with a bearer access token.",
    headers: { "WWW-Authenticate": 'Bearer realm="cupo"' },
  });
}

function refused(sentence: string, cause?: unknown): CupoError {
  return new CupoError("INVALID_ACCESS_TOKEN", {
    detail: `${sentence}.`,
    headers: { "WWW-Authenticate": `Bearer realm="cupo", error="invalid_token", error_description="${sentence}"` },
    cause,
  });
}

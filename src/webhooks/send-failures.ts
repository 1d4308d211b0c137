/** Why the receiver of an event did not answer with an HTTP status. The proto has an enum with these names. */
export type SendFailure =
  | "TIMED_OUT"
  | "NAME_NOT_RESOLVED"
  | "ADDRESS_REFUSED"
  | "TLS_FAILED"
  | "CONNECTION_FAILED"
  | "ANSWER_INVALID";

/** The error codes of Node.js and OpenSSL for each kind of failure. An error with another code is CONNECTION_FAILED. */
const CODES: readonly (readonly [RegExp, SendFailure])[] = [
  [/^CUPO_ADDRESS_REFUSED$/, "ADDRESS_REFUSED"],
  [/^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|EBADRESP|ETIMEOUT|EAI_\w+)$/, "NAME_NOT_RESOLVED"],
  [/^(HPE_|ERR_HTTP|ERR_INVALID_CHAR)/, "ANSWER_INVALID"],
  [
    /^(ERR_TLS|ERR_SSL|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|INVALID_(CA|PURPOSE)|CRL_)/,
    "TLS_FAILED",
  ],
];

/** Returns the kind of an error of a request. The error's message is not used, because it can contain addresses. */
export function failureOf(error: unknown): SendFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? "CONNECTION_FAILED";
}

import type { ErrorCode } from "../errors.js";
import type { CodeEntry } from "./code-entry.js";

/** Descriptions of all Problem codes. `errors.ts` defines their status, slug, title and RPC code. */
export const problemCodes: Readonly<Record<ErrorCode, Omit<CodeEntry, "answeredBy">>> = {
  INVALID_REQUEST: {
    meaning: "The request cannot be read. Nothing was changed.",
    cause: "A header, the path, the query or the body is not valid HTTP, JSON or input of this interface.",
    remedy: "Correct what detail and errors name, and send it again.",
  },
  INVALID_ACCESS_TOKEN: {
    meaning: "The service does not accept the access token.",
    cause: "It is missing, malformed, expired, for another audience, or signed by a key that is not trusted.",
    remedy: "Get a new token from the issuer. WWW-Authenticate says what is wrong.",
  },
  INSUFFICIENT_SCOPE: {
    meaning: "The access token lacks the scope of the operation.",
    cause: "The client did not ask for the scope, or the issuer did not grant it.",
    remedy: "Ask the operator of the issuer for the scope that WWW-Authenticate names.",
  },
  RESOURCE_NOT_FOUND: {
    meaning: "The path or the resource does not exist, or this client may not see it.",
    cause:
      "An id is wrong, or belongs to another tenant, organization or company. Items of errors are body fields whose resources do not exist.",
    remedy: "Check the path, the ids and the tenant of the token. detail names the resource and its field.",
  },
  METHOD_NOT_ALLOWED: {
    meaning: "The path exists, but not with this HTTP method.",
    cause: "The contract does not have this method for the path.",
    remedy: "Use a method in the Allow header.",
  },
  REQUEST_TIMEOUT: {
    meaning: "The request did not arrive in time.",
    cause: "The connection was slow or stopped.",
    remedy: "Send it again with the same Idempotency-Key.",
  },
  CONCURRENT_MODIFICATION: {
    meaning:
      "The request conflicts with the state of a resource, or with an earlier use of its Idempotency-Key. Nothing was changed.",
    cause: "The code in errors identifies the conflict.",
    remedy: "Look up that code: it says whether sending it again helps.",
  },
  OPTION_EXPIRED: {
    meaning: "The option cannot be booked any more.",
    cause: "Its token has expired or was used, its hold has ended, or its slot is no longer offered as shown.",
    remedy: "Search for options again and use a new token.",
  },
  VALIDATION_FAILED: {
    meaning: "The request was read, but breaks rules of the contract. Nothing was changed.",
    cause: "Each item of errors is a broken rule: field is the path to the member, code the kind of rule.",
    remedy: "Correct every field in errors, and send it again with the same Idempotency-Key or a new one.",
  },
  RATE_LIMIT_EXCEEDED: {
    meaning: "The client exceeded its quota, or its limit of concurrent calls or streams.",
    cause: "Too many requests in a second or a minute, or too many at once. detail names the limit.",
    remedy: "Wait for the seconds in Retry-After. RateLimit-Policy has the quotas, RateLimit the remaining requests.",
  },
  HEADERS_TOO_LARGE: {
    meaning: "The headers exceed the limit of the service.",
    cause: "A very long access token, or headers that a proxy added.",
    remedy: "Send fewer or shorter headers.",
  },
  INTERNAL_ERROR: {
    meaning: "The service failed unexpectedly.",
    cause: "A fault of the service, not of the request.",
    remedy: "Send it again with the same Idempotency-Key. If it fails again, report the correlationId.",
  },
  SERVICE_UNAVAILABLE: {
    meaning: "The service cannot process the request at the moment. No change is left half done.",
    cause:
      "BUSY or TIMEOUT in errors has the reason. Without an item, the database or the issuer's keys are unreachable, or the service is stopping; detail says which.",
    remedy: "After the seconds in Retry-After, send it again with the same Idempotency-Key.",
  },
};

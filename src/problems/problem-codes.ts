import type { ErrorCode } from "../errors.js";
import type { CodeEntry } from "./code-entry.js";

/** Descriptions of all Problem codes. `errors.ts` defines their status, slug, title and RPC code. */
export const problemCodes: Readonly<Record<ErrorCode, Omit<CodeEntry, "answeredBy">>> = {
  INVALID_REQUEST: {
    meaning: "The request cannot be read. Nothing was changed.",
    cause: "A header, the path, the query or the body is not what HTTP, JSON or this interface require.",
    remedy: "Read detail and errors, correct the request, and send it again.",
  },
  INVALID_ACCESS_TOKEN: {
    meaning: "The service does not accept the access token.",
    cause: "It is missing, malformed, expired, for another audience, or signed by a key that is not trusted.",
    remedy: "Get a new token from the issuer. The WWW-Authenticate header says what is wrong.",
  },
  INSUFFICIENT_SCOPE: {
    meaning: "The access token is valid, but it lacks the scope that the operation requires.",
    cause: "The issuer did not grant the scope to the client, or the client did not ask for it.",
    remedy: "The WWW-Authenticate header names the scope. Ask the operator of the issuer to grant it.",
  },
  RESOURCE_NOT_FOUND: {
    meaning: "The path or the resource does not exist, or this client may not see the resource.",
    cause:
      "An id is wrong, or belongs to another tenant, organization or company. Each item of errors is a body field whose resource does not exist.",
    remedy: "Check the path, the ids and the tenant of the access token. detail names the resource and its field.",
  },
  METHOD_NOT_ALLOWED: {
    meaning: "The path exists, but not with this HTTP method.",
    cause: "The contract does not have this method for the path.",
    remedy: "Use one of the methods in the Allow header.",
  },
  REQUEST_TIMEOUT: {
    meaning: "The request did not arrive completely in time.",
    cause: "The connection was slow or stopped.",
    remedy: "Send it again with the same Idempotency-Key.",
  },
  CONCURRENT_MODIFICATION: {
    meaning:
      "The request conflicts with the state of a resource, or with an earlier use of its Idempotency-Key. Nothing was changed.",
    cause: "The code in errors identifies the conflict. Each code has its own cause below.",
    remedy:
      "Look up the code in errors. Sending the same request again helps only after IDEMPOTENCY_IN_PROGRESS and TOO_EARLY.",
  },
  OPTION_EXPIRED: {
    meaning: "The option cannot be booked any more.",
    cause: "The option token has expired or was used before, or its slot is no longer offered as the option showed it.",
    remedy: "Search for options again and use a new token.",
  },
  VALIDATION_FAILED: {
    meaning: "The request was read, but it breaks rules of the contract. Nothing was changed.",
    cause: "Each broken rule is an item of errors: field is the path to the member, code the kind of rule.",
    remedy: "Correct every field in errors, and send the request again, with the same Idempotency-Key or a new one.",
  },
  RATE_LIMIT_EXCEEDED: {
    meaning: "The client exceeded its quota, or its limit of concurrent calls or streams.",
    cause: "Too many requests in a second or a minute, or too many at once. detail names the limit.",
    remedy:
      "Wait for the number of seconds in Retry-After. RateLimit-Policy has the quotas, RateLimit the remaining requests.",
  },
  HEADERS_TOO_LARGE: {
    meaning: "The headers of the request are larger than the limit of the service.",
    cause: "A very long access token, or headers that a proxy added.",
    remedy: "Send fewer or shorter headers.",
  },
  INTERNAL_ERROR: {
    meaning: "The service failed unexpectedly.",
    cause: "A fault of the service, not of the request.",
    remedy: "Send the request again with the same Idempotency-Key. If it fails again, report the correlationId.",
  },
  SERVICE_UNAVAILABLE: {
    meaning: "The service cannot process the request at the moment. No change is left half done.",
    cause:
      "The item of errors has the reason: BUSY when other requests use the capacity, TIMEOUT when a statement reached its limit. Without an item, the database or the issuer's keys are unreachable, or the service is stopping; detail says which.",
    remedy: "Wait for the number of seconds in Retry-After, and send the request again with the same Idempotency-Key.",
  },
};

import { Code } from "@connectrpc/connect";

/**
 * Every error that a caller can receive: the code of the Problem (specification section 7), the HTTP status, the last
 * segment of the problem type URI, the title, and the Connect/gRPC code, which for some conflicts is that of their reason.
 * The one place where they are joined.
 */
export const errorTable = {
  INVALID_REQUEST: entry(400, "invalid-request", "Invalid request", Code.InvalidArgument),
  INVALID_ACCESS_TOKEN: entry(401, "unauthorized", "Invalid access token", Code.Unauthenticated),
  INSUFFICIENT_SCOPE: entry(403, "forbidden", "Insufficient scope", Code.PermissionDenied),
  RESOURCE_NOT_FOUND: entry(404, "not-found", "Resource not found", Code.NotFound),
  METHOD_NOT_ALLOWED: entry(405, "method-not-allowed", "Method not allowed", Code.Unimplemented),
  REQUEST_TIMEOUT: entry(408, "request-timeout", "Request timeout", Code.DeadlineExceeded),
  CONCURRENT_MODIFICATION: entry(409, "conflict", "Conflict", Code.FailedPrecondition, {
    STALE_VERSION: Code.Aborted,
    IDEMPOTENCY_IN_PROGRESS: Code.Aborted,
    DUPLICATE: Code.AlreadyExists,
  }),
  OPTION_EXPIRED: entry(410, "option-expired", "Option expired", Code.FailedPrecondition),
  VALIDATION_FAILED: entry(422, "validation", "Validation failed", Code.InvalidArgument),
  RATE_LIMIT_EXCEEDED: entry(429, "rate-limit", "Rate limit exceeded", Code.ResourceExhausted),
  HEADERS_TOO_LARGE: entry(431, "headers-too-large", "Headers too large", Code.ResourceExhausted),
  INTERNAL_ERROR: entry(500, "internal-error", "Internal error", Code.Internal),
  SERVICE_UNAVAILABLE: entry(503, "service-unavailable", "Service unavailable", Code.Unavailable),
} as const;

export type ErrorCode = keyof typeof errorTable;

/**
 * The codes of field-level errors: of a body that breaks a rule (422), of a parameter that cannot be read (400) and, the
 * last group, of a conflict (409), where the one item says which conflict it is.
 */
export type FieldErrorCode =
  | "REQUIRED"
  | "UNKNOWN_FIELD"
  | "INVALID_TYPE"
  | "INVALID_VALUE"
  | "INVALID_FORMAT"
  | "INVALID_UUID"
  | "INVALID_EMAIL"
  | "INVALID_DATE"
  | "INVALID_DATE_TIME"
  | "INVALID_TIME"
  | "TOO_SHORT"
  | "TOO_LONG"
  | "TOO_FEW"
  | "TOO_MANY"
  | "OUT_OF_RANGE"
  | "DUPLICATE"
  | "INVALID_RANGE"
  | "INVALID_CAPACITY"
  | "RULE_OVERLAP"
  | "NOT_FOUND"
  | "INVALID_OPTION"
  | "CONTAINS_DIAGNOSIS"
  | "CONTAINS_CREDENTIAL"
  | "CONTAINS_FINANCIAL_DATA"
  | "MORE_ERRORS"
  | "STALE_VERSION"
  | "IDEMPOTENCY_KEY_REUSED"
  | "IDEMPOTENCY_IN_PROGRESS"
  | "RESULT_ERASED"
  | "STATE_NOT_ALLOWED"
  | "TOO_EARLY"
  | "SAME_SLOT"
  | "PATIENT_NOT_ACTIVE"
  | "SLOT_OCCUPIED"
  | "CAPACITY_EXHAUSTED"
  | "PATIENT_OVERLAP";

/** The limits of the service that a caller or a job can run into, for metrics: what there was too much of. */
export type LimitName = "quota" | "calls" | "load" | "streams" | "planned_slots" | "open_slots";

/** One field-level error. `field` is a JSON path (`practitionerIds[2]`) or a header's name; `message` holds no input. */
export interface FieldError {
  readonly code: FieldErrorCode;
  readonly field: string;
  readonly message: string;
}

/** What a {@link CupoError} carries beside its code. */
export interface CupoErrorInit {
  /** A sentence that is safe to show: no personal data, no secret, nothing the caller sent. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Response headers that belong to the error, such as Retry-After (RFC 9110) or WWW-Authenticate (RFC 6750). */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only, never for the caller. */
  readonly cause?: unknown;
  /** Which limit was reached, where one was; for metrics only. */
  readonly limit?: LimitName;
}

/** The only error that a stage or a service throws on purpose; whatever else is thrown is an INTERNAL_ERROR. */
export class CupoError extends Error {
  override readonly name = "CupoError";
  readonly detail: string | undefined;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly limit: LimitName | undefined;

  constructor(
    readonly code: ErrorCode,
    init: CupoErrorInit = {},
  ) {
    super(code, { cause: init.cause });
    this.detail = init.detail;
    this.errors = init.errors ?? [];
    this.headers = init.headers ?? {};
    this.limit = init.limit;
  }
}

/** 400: a header, a path or a body that cannot be read as a request at all. */
export function invalidRequest(detail: string, errors: readonly FieldError[] = []): CupoError {
  return new CupoError("INVALID_REQUEST", { detail, errors });
}

/** 403: the access token lacks the scope that this needs (RFC 6750, section 3.1). */
export function insufficientScope(scope: string): CupoError {
  return new CupoError("INSUFFICIENT_SCOPE", {
    detail: `The access token lacks the scope ${scope}.`,
    headers: { "WWW-Authenticate": `Bearer realm="cupo", error="insufficient_scope", scope="${scope}"` },
  });
}

/** 404: the resource does not exist, or the principal may not see it; the two are not told apart. */
export function notFound(detail: string, errors: readonly FieldError[] = []): CupoError {
  return new CupoError("RESOURCE_NOT_FOUND", { detail, errors });
}

/** 409: exactly one item says which conflict it is. */
export function conflict(error: FieldError, headers: Readonly<Record<string, string>> = {}): CupoError {
  return new CupoError("CONCURRENT_MODIFICATION", { detail: error.message, errors: [error], headers });
}

/** 409: the update was made for another version of the resource, which `field` of the request names. */
export function staleVersion(currentVersion: number, field = "expectedVersion"): CupoError {
  return conflict({ code: "STALE_VERSION", field, message: `the current version is ${currentVersion}` });
}

/** 409 for several things of one kind that are in the way: an item for each, all of one code. */
export function conflicts(detail: string, errors: readonly FieldError[]): CupoError {
  return new CupoError("CONCURRENT_MODIFICATION", { detail, errors });
}

/**
 * 422: a request that was read but breaks rules; `errors` names them, and says how many more there are. `limit` is the limit of
 * the service that it would go over, where that is the rule.
 */
export function validationFailed(errors: readonly FieldError[], limit?: LimitName): CupoError {
  return new CupoError("VALIDATION_FAILED", {
    detail: "The request breaks at least one rule of the contract; see errors.",
    errors,
    ...(limit === undefined ? {} : { limit }),
  });
}

/** 422 for a page token that the list did not give for this request and this caller. */
export function invalidPageToken(): CupoError {
  const message = "the token is not one that this list gave for these filters";
  return validationFailed([{ code: "INVALID_VALUE", field: "pageToken", message }]);
}

/** 503: a dependency is away; `retryAfterSeconds` is when another try makes sense. */
export function serviceUnavailable(retryAfterSeconds: number, cause?: unknown): CupoError {
  const detail = "The service cannot reach its database at the moment. Retry with the same Idempotency-Key.";
  return unavailable(detail, retryAfterSeconds, { cause });
}

/** 503: the database has no connection left for this process; `retryAfterSeconds` is when another try makes sense. */
export function databaseFull(retryAfterSeconds: number, cause?: unknown): CupoError {
  const detail = "The service's database takes no more connections at the moment. Retry with the same Idempotency-Key.";
  return unavailable(detail, retryAfterSeconds, { cause });
}

/** 503: more is asked of the process than it can do; `retryAfterSeconds` is when another try makes sense. */
export function overloaded(retryAfterSeconds: number): CupoError {
  const detail = "The service is asked for more than it can do at the moment. Retry with the same Idempotency-Key.";
  return unavailable(detail, retryAfterSeconds, { limit: "load" });
}

/** 503: the service stops, and a stream with it; another process, or the next one, goes on with it. */
export function serviceStopping(): CupoError {
  return unavailable("The service is stopping. Open the stream again.", 1);
}

/** 503: what the call needs is locked by another for too long; `retryAfterSeconds` is when another try makes sense. */
export function resourceBusy(retryAfterSeconds: number, cause?: unknown): CupoError {
  const detail = "Another change holds what this one needs. Try again, with the same Idempotency-Key.";
  return unavailable(detail, retryAfterSeconds, { cause });
}

function unavailable(detail: string, retryAfterSeconds: number, init: CupoErrorInit = {}): CupoError {
  return new CupoError("SERVICE_UNAVAILABLE", {
    detail,
    headers: { "Retry-After": String(retryAfterSeconds) },
    ...init,
  });
}

/** The Connect/gRPC code of an error: that of its one reason where the table has one for it, else that of its code. */
export function connectCodeOf({ code, errors }: CupoError): Code {
  const { connectCode, codesByReason } = errorTable[code];
  const [reason] = errors;
  return (reason && codesByReason[reason.code]) ?? connectCode;
}

/** What tells an error from every other in one word: which conflict it is, else its code. */
export function reasonOf({ code, errors }: CupoError): ErrorCode | FieldErrorCode {
  const [reason] = errors;
  return code === "CONCURRENT_MODIFICATION" && reason !== undefined ? reason.code : code;
}

type CodesByReason = Readonly<Partial<Record<FieldErrorCode, Code>>>;

function entry(status: number, slug: string, title: string, connectCode: Code, codesByReason: CodesByReason = {}) {
  return { status, slug, title, connectCode, codesByReason };
}

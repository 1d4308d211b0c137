import { Code } from "@connectrpc/connect";

/**
 * The errors of the service by Problem code (specification section 7): HTTP status, last segment of the problem type
 * URI, title and Connect/gRPC code. In some conflicts the first item of `errors` decides the Connect/gRPC code.
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
 * The codes of the items of `errors` in a Problem. `src/problems` documents the meaning, causes, remedy and operations
 * of each code. A code without documentation does not compile.
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
  | ("CONTAINS_DIAGNOSIS" | "CONTAINS_CREDENTIAL" | "CONTAINS_FINANCIAL_DATA")
  | "SOURCE_CHANGED"
  | "MORE_ERRORS"
  | "STALE_VERSION"
  | ("IDEMPOTENCY_KEY_REUSED" | "IDEMPOTENCY_IN_PROGRESS" | "RESULT_ERASED")
  | ("STATE_NOT_ALLOWED" | "TENANT_SUSPENDED")
  | ("TOO_EARLY" | "TOO_LATE")
  | ("SAME_SLOT" | "NO_SLOT")
  | "PATIENT_NOT_ACTIVE"
  | "SLOT_OCCUPIED"
  | "CAPACITY_EXHAUSTED"
  | ("PATIENT_OVERLAP" | "PATIENT_LIMIT" | "SUPERVISOR_REQUIRED")
  | "HOLD_LIMIT"
  | "BUSY"
  | "TIMEOUT";

/** Names of the limits that a caller or a job can reach, as metrics state them (docs/reference/telemetry.md). */
export type LimitName =
  | ("quota" | "calls" | "tenant_calls" | "heavy_calls" | "load" | "streams" | "tenant_streams")
  | ("planned_slots" | "open_slots");

/** A field error. `field`: a JSON path (`practitionerIds[2]`), a header name or empty. `message` contains no input. */
export interface FieldError {
  readonly code: FieldErrorCode;
  readonly field: string;
  readonly message: string;
}

/** The data of a {@link CupoError} in addition to its code. */
export interface CupoErrorInit {
  /** A sentence without personal data, secrets or request text. Without it, `errors` or the code explain the error. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Response headers that belong to the error, such as Retry-After (RFC 9110) or WWW-Authenticate (RFC 6750). */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only, never for the caller. */
  readonly cause?: unknown;
  /** The limit that was reached, if any. For metrics only. */
  readonly limit?: LimitName;
  /** The Connect/gRPC code, if it differs from the error table. */
  readonly connectCode?: Code;
}

/** An error with an answer for the caller. Interceptors and services throw it. Other errors become INTERNAL_ERROR. */
export class CupoError extends Error {
  override readonly name = "CupoError";
  readonly detail: string | undefined;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly limit: LimitName | undefined;
  readonly connectCode: Code | undefined;

  constructor(
    readonly code: ErrorCode,
    init: CupoErrorInit = {},
  ) {
    super(code, { cause: init.cause });
    this.detail = init.detail;
    this.errors = init.errors ?? [];
    this.headers = init.headers ?? {};
    this.limit = init.limit;
    this.connectCode = init.connectCode;
  }
}

/** 400: a header, the path, the query or the body is malformed. `why` is a sentence or a list of all errors. */
export function invalidRequest(why: string | readonly FieldError[]): CupoError {
  return new CupoError("INVALID_REQUEST", typeof why === "string" ? { detail: why } : { errors: why });
}

/** 403: the token lacks `scope` (RFC 6750 section 3.1). Set `detail` if the token lacks something else. */
export function insufficientScope(scope: string, detail = `The access token lacks the scope ${scope}.`): CupoError {
  return new CupoError("INSUFFICIENT_SCOPE", {
    detail,
    headers: { "WWW-Authenticate": `Bearer realm="cupo", error="insufficient_scope", scope="${scope}"` },
  });
}

/** 404: the resource does not exist, or the principal may not see it. The answer is the same in both cases. */
export function notFound(detail: string): CupoError {
  return new CupoError("RESOURCE_NOT_FOUND", { detail });
}

/** 404: fields of the request refer to resources that do not exist or that the principal may not see. */
export function unknownReferences(errors: readonly FieldError[]): CupoError {
  return new CupoError("RESOURCE_NOT_FOUND", { errors });
}

/** 409: one conflict. `error` is the only item of `errors`. */
export function conflict(error: FieldError, headers: Readonly<Record<string, string>> = {}): CupoError {
  return new CupoError("CONCURRENT_MODIFICATION", { errors: [error], headers });
}

/** 409: the tenant of the caller is suspended, is being erased or was erased. */
export function tenantSuspended(): CupoError {
  const message = "the tenant is suspended: it can be read, but not changed, until an operator resumes it";
  return conflict({ code: "TENANT_SUSPENDED", field: "", message });
}

/** 409: the expected version is not the current version. `field` is the request field with the expected version. */
export function staleVersion(currentVersion: number, field = "expectedVersion"): CupoError {
  const message =
    `the resource is at version ${currentVersion} now: read it with the Get operation of the clinic's API, or take it from the ` +
    `response to its last write, check that the change still applies, and send ${currentVersion}`;
  return conflict({ code: "STALE_VERSION", field, message });
}

/** 409: several conflicts, with an item for each. The first item decides the Connect/gRPC code. */
export function conflicts(errors: readonly FieldError[]): CupoError {
  return new CupoError("CONCURRENT_MODIFICATION", { errors });
}

/**
 * 422: a well-formed request breaks rules. Each item of `errors` states a broken rule. `limit` is the limit of the
 * service that the request would exceed, if any.
 */
export function validationFailed(errors: readonly FieldError[], limit?: LimitName): CupoError {
  return new CupoError("VALIDATION_FAILED", { errors, ...(limit === undefined ? {} : { limit }) });
}

/** 422: the page token was not issued for this list with these filters, or not to this caller. */
export function invalidPageToken(): CupoError {
  const message = "the value is not a nextPageToken of this list with these filters: begin again without a token";
  return validationFailed([{ code: "INVALID_VALUE", field: "pageToken", message }]);
}

/** 503: the database is unavailable. `retryAfterSeconds` is the value of Retry-After. */
export function serviceUnavailable(retryAfterSeconds: number, cause?: unknown): CupoError {
  const detail = "The service cannot reach its database at the moment. Retry with the same Idempotency-Key.";
  return unavailable(detail, retryAfterSeconds, { cause });
}

/**
 * 503 with the reason BUSY: the request did not run or did not finish, because other requests use a lock, a connection
 * or another resource that it needs. `message` states the cause. The error item has an empty `field`.
 */
export function busy(message: string, retryAfterSeconds: number, init: CupoErrorInit = {}): CupoError {
  const detail = `${message} Nothing was changed. Send the request again with the same Idempotency-Key.`;
  return unavailable(detail, retryAfterSeconds, { ...init, errors: [{ code: "BUSY", field: "", message }] });
}

/** 503 with a Retry-After, in seconds. */
export function unavailable(detail: string, retryAfterSeconds: number, init: CupoErrorInit = {}): CupoError {
  return new CupoError("SERVICE_UNAVAILABLE", {
    detail,
    headers: { "Retry-After": String(retryAfterSeconds) },
    ...init,
  });
}

/** Returns the code of the first item of `errors` if it states the reason (409 or 503), else the Problem's code. */
export function reasonOf({ code, errors }: CupoError): ErrorCode | FieldErrorCode {
  const [reason] = errors;
  return reason !== undefined && isExplainedByItem(code) ? reason.code : code;
}

/** Whether the first item of `errors` is the reason of an error with this code. If not, each item names a bad field. */
export function isExplainedByItem(code: ErrorCode): boolean {
  return code === "CONCURRENT_MODIFICATION" || code === "SERVICE_UNAVAILABLE";
}

type CodesByReason = Readonly<Partial<Record<FieldErrorCode, Code>>>;

function entry(status: number, slug: string, title: string, connectCode: Code, codesByReason: CodesByReason = {}) {
  return { status, slug, title, connectCode, codesByReason };
}

import { create, type DescMethod } from "@bufbuild/protobuf";
import { invalidToken } from "../auth/invalid-token.js";
import {
  CupoError,
  type ErrorCode,
  errorTable,
  insufficientScope,
  notFound,
  serviceUnavailable,
  staleVersion,
  validationFailed,
} from "../errors.js";
import { rejectionError } from "../interceptors/concurrency/rejection-error.js";
import { keyRefusal } from "../interceptors/idempotency.js";
import { quotaExceeded } from "../interceptors/rate-limit.js";
import { headerJudge } from "../interceptors/request-headers.js";
import type { ListErrors, MessageValidator } from "../interceptors/validation/validation.js";
import { operationOf, pathFields, takesIdempotencyKey } from "../operation.js";

/** The functions that validate messages. Their results are the examples of validation errors. */
export interface Judges {
  readonly validate: MessageValidator;
  readonly listErrors: ListErrors;
}

/** Example errors by name, such as `staleVersion`. */
export type NamedErrors = Readonly<Record<string, CupoError>>;

/** Returns the error code with this HTTP status. Each status has at most one code. Throws if the status has none. */
export function codeOfStatus(status: number): ErrorCode {
  const found = Object.entries(errorTable).find(([, entry]) => entry.status === status);
  if (found === undefined) throw new Error(`no error has the status ${status}`);
  return found[0] as ErrorCode;
}

/**
 * Returns the example errors of an operation for one HTTP status; empty if there are none. Most examples come from the
 * functions that throw these errors in production. The example of a 422 has the errors of an empty request, without
 * those of fields in the path. Throws if no error code has the status.
 */
export function exampleErrors(method: DescMethod, status: number, judges: Judges): NamedErrors {
  const code = codeOfStatus(status);
  if (code === "CONCURRENT_MODIFICATION") return conflictsOf(method);
  if (code === "VALIDATION_FAILED") return { missingMembers: emptyRequest(method, judges) };
  if (code === "INSUFFICIENT_SCOPE") return { missingScope: insufficientScope(operationOf(method).scope) };
  if (code === "INVALID_REQUEST") return unusableHeaders(method);
  return generalErrors[code] ?? { example: new CupoError(code) };
}

const generalErrors: Readonly<Partial<Record<ErrorCode, NamedErrors>>> = {
  INVALID_ACCESS_TOKEN: { expiredToken: invalidToken("EXPIRED") },
  RESOURCE_NOT_FOUND: { notVisible: notFound("There is no such appointment (appointmentId).") },
  RATE_LIMIT_EXCEEDED: { quota: quotaExceeded([{ quota: 50, windowSeconds: 1, resetSeconds: 1 }]) },
  SERVICE_UNAVAILABLE: { databaseAway: serviceUnavailable(5), busy: rejectionError("HEAVY", "calls", 2) },
};

function conflictsOf(method: DescMethod): NamedErrors {
  const isVersioned = method.input.fields.some(({ name }) => name === "expected_version");
  const isKeyed = takesIdempotencyKey(method);
  return {
    ...(isVersioned ? { staleVersion: staleVersion(4) } : {}),
    ...(isKeyed ? { keyReused: keyRefusal("REUSED"), keyInProgress: keyRefusal("IN_PROGRESS") } : {}),
  };
}

function emptyRequest(method: DescMethod, { validate, listErrors }: Judges): CupoError {
  const { input } = method;
  const inPath = pathFields(method);
  const ofPath = new Set(input.fields.filter(({ name }) => inPath.has(name)).map(({ jsonName }) => jsonName));
  const errors = validate(input)(create(input)).filter(({ field }) => !ofPath.has(field));
  return validationFailed(listErrors(input, errors));
}

function unusableHeaders(method: DescMethod): NamedErrors {
  const error = headerJudge(method)({ correlationId: ["1"], idempotencyKey: [] });
  return error === undefined ? {} : { unusableHeaders: error };
}

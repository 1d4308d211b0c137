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
import { keyRefusal } from "../interceptors/idempotency.js";
import { quotaExceeded } from "../interceptors/rate-limit.js";
import { judgeHeaders } from "../interceptors/request-headers.js";
import type { ListErrors, MessageValidator } from "../interceptors/validation/validation.js";
import { operationOf, pathFields, takesIdempotencyKey } from "../operation.js";

/** The stages that judge messages, which make the examples of what they refuse. */
export interface Judges {
  readonly validate: MessageValidator;
  readonly listErrors: ListErrors;
}

/** Errors by a name for readers. */
export type NamedErrors = Readonly<Record<string, CupoError>>;

/** The code of the errors that have an HTTP status; there is one for each. Throws for a status that no error has. */
export function codeOfStatus(status: number): ErrorCode {
  const found = Object.entries(errorTable).find(([, entry]) => entry.status === status);
  if (found === undefined) throw new Error(`no error has the status ${status}`);
  return found[0] as ErrorCode;
}

/**
 * Errors with this status as an operation gives them, made by what throws them in earnest: the 422 is what the rules of its
 * proto say of a request without any member.
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
  RESOURCE_NOT_FOUND: { notVisible: notFound("The resource of the path does not exist.") },
  RATE_LIMIT_EXCEEDED: { quota: quotaExceeded([{ quota: 50, windowSeconds: 1, resetSeconds: 1 }]) },
  SERVICE_UNAVAILABLE: { databaseAway: serviceUnavailable(5) },
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
  const errors = validate(input, create(input)).filter(({ field }) => !ofPath.has(field));
  return validationFailed(listErrors(input, errors));
}

function unusableHeaders(method: DescMethod): NamedErrors {
  const error = judgeHeaders(method, { correlationId: ["1"], idempotencyKey: [] });
  return error === undefined ? {} : { unusableHeaders: error };
}

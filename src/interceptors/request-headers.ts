import type { DescMethod } from "@bufbuild/protobuf";
import { type CallHeaders, callOf } from "../call.js";
import { type CupoError, type FieldError, type FieldErrorCode, invalidRequest } from "../errors.js";
import { takesIdempotencyKey } from "../operation.js";
import { isUuid } from "../uuid.js";
import type { Stage } from "./stage.js";

/** The allowed form of an idempotency key. */
export const idempotencyKeyForm = { pattern: /^[\x21-\x7e]+$/, maxLength: 255 } as const;

/**
 * Throws 400 if X-Correlation-Id is invalid. If the operation requires Idempotency-Key, also throws 400 if this header
 * is missing or invalid. The error has an item for each invalid header (specification section 4).
 */
export function requestHeaders(): Stage {
  return (method) => {
    const judge = headerJudge(method);
    return (next) => (request) => {
      const refusal = judge(callOf(request.contextValues).headers);
      if (refusal !== undefined) throw refusal;
      return next(request);
    };
  };
}

/**
 * Returns a check of the header X-Correlation-Id of calls of `method`. If the method requires Idempotency-Key, the
 * check includes this header. The check returns a 400 error with all faults, or undefined if the headers are valid.
 */
export function headerJudge(
  method: DescMethod,
): (headers: Pick<CallHeaders, "correlationId" | "idempotencyKey">) => CupoError | undefined {
  const keyErrors = takesIdempotencyKey(method) ? idempotencyKeyErrors : () => [];
  return (headers) => {
    const errors = [...correlationErrors(headers), ...keyErrors(headers)];
    return errors.length === 0 ? undefined : invalidRequest(errors);
  };
}

function correlationErrors({ correlationId }: Pick<CallHeaders, "correlationId">): FieldError[] {
  if (isCorrelationId(correlationId)) return [];
  return [{ code: "INVALID_UUID", field: "X-Correlation-Id", message: "the header must be one UUID" }];
}

function idempotencyKeyErrors({ idempotencyKey }: Pick<CallHeaders, "idempotencyKey">): FieldError[] {
  const [key] = idempotencyKey;
  const error = (code: FieldErrorCode, message: string) => [{ code, field: "Idempotency-Key", message }];
  if (key === undefined || key === "") return error("REQUIRED", "the header is required");
  if (idempotencyKey.length > 1) return error("INVALID_VALUE", "the header must be sent once");
  const { pattern, maxLength } = idempotencyKeyForm;
  if (key.length > maxLength) return error("TOO_LONG", `the value must have at most ${maxLength} characters`);
  if (!pattern.test(key)) return error("INVALID_FORMAT", "the value must consist of visible ASCII characters");
  return [];
}

/** Whether the X-Correlation-Id headers of a request are valid: none, or one UUID. */
export function isCorrelationId(sent: readonly string[]): boolean {
  return sent.length <= 1 && sent.every((id) => isUuid(id));
}

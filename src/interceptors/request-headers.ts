import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { type CallHeaders, callOf } from "../call.js";
import { type CupoError, type FieldError, type FieldErrorCode, invalidRequest } from "../errors.js";
import { takesIdempotencyKey } from "../operation.js";
import { isCorrelationId } from "./open-call.js";

/** What an idempotency key may be. */
export const idempotencyKeyForm = { pattern: /^[\x21-\x7e]+$/, maxLength: 255 } as const;

/** Refuses a call whose own headers cannot be used, naming each of them (specification section 4, common headers). */
export function requestHeaders(): Interceptor {
  return (next) => async (request) => {
    const refusal = judgeHeaders(request.method, callOf(request.contextValues).headers);
    if (refusal !== undefined) throw refusal;
    return next(request);
  };
}

/** The error for headers that a call of this method cannot have; undefined where they are right. */
export function judgeHeaders(
  method: DescMethod,
  headers: Pick<CallHeaders, "correlationId" | "idempotencyKey">,
): CupoError | undefined {
  const errors = [...correlationErrors(headers), ...(takesIdempotencyKey(method) ? idempotencyKeyErrors(headers) : [])];
  return errors.length === 0
    ? undefined
    : invalidRequest("A header of the request cannot be used; see errors.", errors);
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
  if (key.length > maxLength) return error("TOO_LONG", `the key must have at most ${maxLength} characters`);
  if (!pattern.test(key)) return error("INVALID_FORMAT", "the key must consist of visible ASCII characters");
  return [];
}

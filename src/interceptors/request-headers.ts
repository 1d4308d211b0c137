import type { Interceptor } from "@connectrpc/connect";
import { type CallHeaders, callOf } from "../call.js";
import { type FieldError, type FieldErrorCode, invalidRequest } from "../errors.js";
import { takesIdempotencyKey } from "../operation.js";
import { isCorrelationId } from "./open-call.js";

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const MAX_KEY_LENGTH = 255;

/** Refuses a call whose own headers cannot be used, naming each of them (specification section 4, common headers). */
export function requestHeaders(): Interceptor {
  return (next) => async (request) => {
    const { headers } = callOf(request.contextValues);
    const errors = [
      ...correlationErrors(headers),
      ...(takesIdempotencyKey(request.method) ? idempotencyKeyErrors(headers) : []),
    ];
    if (errors.length > 0) throw invalidRequest("A header of the request cannot be used; see errors.", errors);
    return next(request);
  };
}

function correlationErrors({ correlationId }: CallHeaders): FieldError[] {
  if (isCorrelationId(correlationId)) return [];
  return [{ code: "INVALID_UUID", field: "X-Correlation-Id", message: "the header must be one UUID" }];
}

function idempotencyKeyErrors({ idempotencyKey }: CallHeaders): FieldError[] {
  const [key] = idempotencyKey;
  const error = (code: FieldErrorCode, message: string) => [{ code, field: "Idempotency-Key", message }];
  if (key === undefined || key === "") return error("REQUIRED", "the header is required");
  if (idempotencyKey.length > 1) return error("INVALID_VALUE", "the header must be sent once");
  if (key.length > MAX_KEY_LENGTH) return error("TOO_LONG", `the key must have at most ${MAX_KEY_LENGTH} characters`);
  if (!VISIBLE_ASCII.test(key)) return error("INVALID_FORMAT", "the key must consist of visible ASCII characters");
  return [];
}

import type { Interceptor } from "@connectrpc/connect";
import { callOf } from "../call.js";
import { type FieldErrorCode, invalidRequest } from "../errors.js";

/** What the id of an actor may be. */
export const actorForm = { pattern: /^[\x21-\x7e]+$/, maxLength: 128 } as const;

/**
 * Takes from the Actor-Id header who stands behind the machine client: an opaque id of 1 to 128 visible ASCII characters,
 * no name, which the service keeps beside the principal and never judges. Optional on every operation of the internal
 * listener; REST, whose headers are published, does not know it. Throws 400 where it is malformed or sent twice.
 */
export function actor(): Interceptor {
  return (next) => async (request) => {
    const call = callOf(request.contextValues);
    const [id] = call.headers.actorId;
    if (id === undefined) return next(request);
    if (call.headers.actorId.length > 1) throw unusable("INVALID_VALUE", "the header must be sent once");
    if (id === "") throw unusable("TOO_SHORT", "the id must not be empty");
    const { pattern, maxLength } = actorForm;
    if (id.length > maxLength) throw unusable("TOO_LONG", `the id must have at most ${maxLength} characters`);
    if (!pattern.test(id)) throw unusable("INVALID_FORMAT", "the id must consist of visible ASCII characters");
    call.actor = id;
    return next(request);
  };
}

function unusable(code: FieldErrorCode, message: string) {
  return invalidRequest("A header of the request cannot be used; see errors.", [{ code, field: "Actor-Id", message }]);
}

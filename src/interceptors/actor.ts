import { callOf } from "../call.js";
import { type FieldErrorCode, invalidRequest } from "../errors.js";
import type { Stage } from "./stage.js";

/** The allowed form of an actor id. */
export const actorForm = { pattern: /^[\x21-\x7e]+$/, maxLength: 128 } as const;

/**
 * Reads the Actor-Id header: the opaque id of the person who uses the client. The value has 1 to 128 visible ASCII
 * characters and must not be a name. The service stores it with the principal and does not verify it. Throws 400 if the
 * header is malformed or sent twice.
 *
 * The header is optional. It is read for all RPC calls, and for the REST operations of `cupo.clinic.v1`. The published
 * REST operations ignore it, because the interface specification does not have it.
 */
export function actor(): Stage {
  return () => (next) => async (request) => {
    const call = callOf(request.contextValues);
    const [id] = call.headers.actorId;
    if (id === undefined) return next(request);
    if (call.headers.actorId.length > 1) throw unusable("INVALID_VALUE", "the header must be sent once");
    if (id === "") throw unusable("TOO_SHORT", "the value must not be empty");
    const { pattern, maxLength } = actorForm;
    if (id.length > maxLength) throw unusable("TOO_LONG", `the value must have at most ${maxLength} characters`);
    if (!pattern.test(id)) throw unusable("INVALID_FORMAT", "the value must consist of visible ASCII characters");
    call.actor = id;
    return next(request);
  };
}

function unusable(code: FieldErrorCode, message: string) {
  return invalidRequest([{ code, field: "Actor-Id", message }]);
}

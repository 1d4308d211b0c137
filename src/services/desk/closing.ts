import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict } from "../../errors.js";
import type { Closure } from "../../postgres/tables/desk/closures.js";

/** Returns the attributes of a closed waitlist entry or case: closed by the caller at `nowMs`, for `reason`. */
export function closureNow(call: ReadyCall, reason: string, nowMs: number): Closure {
  return {
    closedAt: new Date(nowMs),
    closedBy: call.principal.id,
    closedByActor: call.actor,
    closeReason: reason,
  };
}

/** Returns a 409 error for a resource whose status does not allow the operation. */
export function stateNotAllowed(field: string, message: string): CupoError {
  return conflict({ code: "STATE_NOT_ALLOWED", field, message });
}
